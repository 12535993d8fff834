"""What test questions have come to, item by item: counts that a round notes, and that what is new changes."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

from askwise.store.facts import Answer, Fact, Question, Resolution
from askwise.store.standing import UNLABELLED, Rules, Standing, standing

_BESIDE = ("check", "sweep")  # views in which an answer is not given to the question itself


@dataclass(frozen=True)
class Tally:
    """How many items are where, as far as test questions are concerned; sums and differences are tallies."""

    used: int = 0
    """Items of the region that are not asked any more: they were, or are known otherwise."""
    asked: int = 0
    """Items that were asked to test."""
    open: int = 0
    answered: int = 0
    skipped: int = 0
    learned: int = 0
    """Items that answered a question to learn from."""
    unsettled: int = 0
    """Open items with all the answers they were asked for, such as a tie: until settled nobody knows them."""

    @property
    def tested(self) -> int:
        """Items that a band counts: answered ones, and those that count as skipped."""
        return self.answered + self.skipped + self.unsettled

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: "Tally") -> "Tally":
        return Tally(*(one - less for one, less in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True)
class Trial:
    """One item as far as test questions are concerned, by everything that was said about it."""

    question: Question | None = None
    """The last one that tests; none if the item was never asked to."""
    first: int = 0
    """The seq of the first such question."""
    answers: tuple[Answer, ...] = ()
    word: Resolution | None = None
    """What settled these answers, where somebody has."""
    learned: bool = False

    @classmethod
    def of(cls, history: Sequence[Fact]) -> "Trial":
        """The trial of an item with this history."""
        asked = [fact for fact in history if isinstance(fact, Question) and fact.kind == "test"]
        names = {one.question for one in asked}
        answers = [fact for fact in history if isinstance(fact, Answer) and fact.question]
        mine = tuple(one for one in answers if one.question in names)
        words = [one for one in history if isinstance(one, Resolution) and mine and one.seq > mine[0].seq]
        return cls(
            asked[-1] if asked else None,
            asked[0].seq if asked else 0,
            mine,
            words[-1] if words else None,
            any(one.question not in names and one.view not in _BESIDE for one in answers),
        )

    def history(self) -> list[Fact]:
        """What was said, as if the item had been asked to learn from it; what saw the guess tells nothing."""
        if self.question is None:
            return []
        blind = [
            replace(one, verdict="cannot_tell", label=None) if one.assisted else one for one in self.answers
        ]
        return [replace(self.question, kind="learn"), *blind, *([self.word] if self.word else [])]

    def standing(self, how: Rules) -> Standing:
        """Where the item stands by the rules for all others; without a label, and not open, it is skipped."""
        found = standing(self.history(), how)
        waits = not self.answers or self.answers[-1].verdict == "retract" or found.place == "open"
        return Standing("open") if waits else found

    @property
    def complete(self) -> bool:
        """Whether as many people as it was asked for have spoken, those included who could not tell."""
        last = {one.annotator: one.verdict for one in self.answers}
        spoke = sum(verdict != "retract" for verdict in last.values())
        return self.question is not None and spoke >= self.question.needed


def tally(history: Sequence[Fact], how: Rules, *, inside: bool) -> Tally:
    """What one item counts for; `inside` says whether the region has it, or had before it was labelled."""
    if not history:
        return Tally()
    trial = Trial.of(history)
    known = standing(history, how).place != UNLABELLED.place
    asked = trial.question is not None
    place = trial.standing(how) if asked and inside and not known else None
    waits = place is not None and place.place == "open"
    return Tally(
        used=int(inside and (known or asked)),
        asked=int(asked),
        open=int(waits),
        answered=int(place is not None and place.label is not None),
        skipped=int(place is not None and place.label is None and not waits),
        learned=int(trial.learned),
        unsettled=int(waits and trial.complete),
    )
