"""Status of one item, by everything that was said about it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from askwise.store.contract import Places
from askwise.store.facts import (
    MOVING_EDITS,
    Answer,
    ClassEdit,
    Fact,
    Policy,
    Quarantine,
    Question,
    Resolution,
)
from askwise.store.labels import Label, Tags


@dataclass(frozen=True)
class Standing:
    """The place of an item; `detail` is why it is skipped or quarantined."""

    place: str
    """`unlabelled`, `open`, `labelled`, `skipped` or `quarantined`."""
    label: Label | None = None
    detail: str = ""


UNLABELLED = Standing("unlabelled")


@dataclass(frozen=True)
class Rules:
    """How what was said becomes a label: the policy, and what became of classes no longer in use."""

    policy: str = "latest"
    into: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def counts_for(self, label: Label | None) -> Label | None:
        """The label as it counts by now; none if its class has to be asked again."""
        if not self.into:
            return label
        if isinstance(label, int):
            found = self.became(label)
            return found[0] if len(found) == 1 else None
        if isinstance(label, Tags):
            given = [self.became(number) for number in label.tags]
            unsure = [self.became(number) for number in label.unknown]
            tags = {found[0] for found in given if len(found) == 1}
            unknown = {one for found in given if len(found) > 1 for one in found}
            return Tags(tuple(tags), tuple((unknown | {one for some in unsure for one in some}) - tags))
        return label

    def became(self, number: int) -> tuple[int, ...]:
        """The classes that a class has become: one, none, or several of which nobody knows which."""
        while number in self.into:
            if len(self.into[number]) != 1:
                return self.into[number]
            [number] = self.into[number]
        return (number,)


def rules(facts: Iterable[Fact], *, until: int | None = None) -> Rules:
    """The rules that these facts make, or made at a revision."""
    policy, into = "latest", dict[int, tuple[int, ...]]()
    for fact in facts:
        if until is not None and fact.revision > until:
            break
        if isinstance(fact, Policy):
            policy = fact.policy
        elif isinstance(fact, ClassEdit) and moves_labels(fact):
            into[fact.number] = fact.into
    return Rules(policy, into)


def moves_labels(fact: Fact) -> bool:
    """Whether a fact may change the label of items that it does not name."""
    return isinstance(fact, Policy) or (isinstance(fact, ClassEdit) and fact.edit in MOVING_EDITS)


def standing(history: Sequence[Fact], how: Rules) -> Standing:
    """Where an item stands: quarantine first, since a label of what cannot be read is not trained on."""
    quarantine = _last(history, Quarantine)
    if isinstance(quarantine, Quarantine) and quarantine.reason:
        return Standing("quarantined", detail=quarantine.reason)
    found = _effective(to_learn_from(history), last_word(history), how, history)
    label = None if found is None else how.counts_for(found.label)
    asked = _last([fact for fact in history if isinstance(fact, Question) and fact.kind == "learn"], Question)
    if found is None or found.verdict == "retract" or (found.verdict == "label" and label is None):
        waits = asked is not None and (found is None or asked.seq > found.seq)
        return Standing("open") if waits else UNLABELLED
    if found.verdict == "label":
        return Standing("labelled", label=label)
    return Standing("skipped", detail=found.verdict)


def gone_into(history: Sequence[Fact], how: Rules) -> tuple[int, ...] | None:
    """What became of the class that an item's label names, if that is no longer in use; otherwise None.

    A class that was split has become several, a retired one none.
    """
    if not how.into:
        return None
    found = _effective(to_learn_from(history), last_word(history), how, history)
    if found is None or found.verdict != "label" or not isinstance(found.label, int):
        return None
    if how.counts_for(found.label) is not None or standing(history, how).place == "quarantined":
        return None
    return tuple({one: None for number in how.became(found.label) for one in how.became(number)})


def tied(history: Sequence[Fact], how: Rules) -> bool:
    """Whether an item has all the answers that were wanted, and still needs one more to have a label."""
    if how.policy != "majority" or standing(history, how).place != "open":
        return False
    said, _ = votes(to_learn_from(history), how)
    return len(said) >= _needed(history)


def tally(places: Iterable[str]) -> Places:
    """How many items are in each place."""
    found = Counter(places)
    return Places(found["open"], found["labelled"], found["skipped"], found["quarantined"])


def to_learn_from(history: Sequence[Fact]) -> list[Answer]:
    """What was said in answer to questions that are asked to learn from, or to none."""
    return [fact for fact in history if isinstance(fact, Answer) and not _apart(fact, history)]


def last_word(history: Sequence[Fact]) -> Resolution | None:
    """The resolution that holds, unless it was taken back, or is about answers that are not learned from."""
    word = _last(history, Resolution)
    if not isinstance(word, Resolution) or word.verdict == "retract":
        return None
    about = [fact for fact in history if isinstance(fact, Answer) and fact.seq in word.answers]
    return None if about and all(_apart(one, history) for one in about) else word


def votes(said: Iterable[Answer], how: Rules) -> tuple[dict[str, Answer], list[Answer]]:
    """The last word of each annotator, its label as it counts by now; and those that no longer count."""
    last = {answer.annotator: answer for answer in said if answer.verdict != "skip"}
    found: dict[str, Answer] = {}
    void: list[Answer] = []
    for name, answer in last.items():
        if answer.verdict == "retract":
            continue
        label = how.counts_for(answer.label)
        if answer.verdict == "label" and label is None:
            void.append(answer)
        else:
            found[name] = replace(answer, label=label)
    return found, void


def _apart(answer: Answer, history: Sequence[Fact]) -> bool:
    """Whether it answers a question that is not asked to learn from."""
    return bool(answer.question) and any(
        isinstance(fact, Question) and fact.question == answer.question and fact.kind != "learn"
        for fact in history
    )


def _effective(
    said: Sequence[Answer], word: Resolution | None, how: Rules, history: Sequence[Fact]
) -> Answer | Resolution | None:
    """The answer or the resolution that holds; none while there is none."""
    if how.policy == "latest":
        last = said[-1] if said else None
        return word if last is None or (word is not None and word.seq > last.seq) else last
    if word is not None or how.policy == "resolver":
        return word
    given, void = votes(said, how)
    if len(given) < _needed(history):
        if void:
            return max(void, key=lambda answer: answer.seq)  # of a class that is no longer in use
        return said[-1] if said and not given else None
    counts = Counter((answer.verdict, answer.label) for answer in given.values()).most_common(2)
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        return None  # a tie waits for one more answer, or for a resolution
    chosen = next(answer for answer in given.values() if (answer.verdict, answer.label) == counts[0][0])
    return next(answer for answer in said if answer.seq == chosen.seq)


def _needed(history: Sequence[Fact]) -> int:
    wanted = [fact.needed for fact in history if isinstance(fact, Question) and fact.kind == "learn"]
    return max(wanted, default=1)


def _last(history: Sequence[Fact], kind: type[Fact]) -> Fact | None:
    return next((fact for fact in reversed(history) if isinstance(fact, kind)), None)
