"""Where one item stands, by everything that was said about it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from askwise.store.contract import Places
from askwise.store.facts import Answer, Fact, Quarantine, Question, Resolution
from askwise.store.labels import Label


@dataclass(frozen=True)
class Standing:
    """The place of an item; `detail` is why it is skipped or quarantined."""

    place: str
    """`unlabelled`, `open`, `labelled`, `skipped` or `quarantined`."""
    label: Label | None = None
    detail: str = ""


UNLABELLED = Standing("unlabelled")


def standing(history: Sequence[Fact], policy: str) -> Standing:
    """Where an item stands: quarantine first, since a label of what cannot be read is not trained on."""
    quarantine = _last(history, Quarantine)
    if isinstance(quarantine, Quarantine) and quarantine.reason:
        return Standing("quarantined", detail=quarantine.reason)
    said = [fact for fact in history if isinstance(fact, Answer) and not _apart(fact, history)]
    word = _last(history, Resolution)
    found = _effective(said, word if isinstance(word, Resolution) else None, policy, history)
    asked = _last([fact for fact in history if isinstance(fact, Question) and fact.kind == "learn"], Question)
    if found is None or found.verdict == "retract":
        waits = asked is not None and (found is None or asked.seq > found.seq)
        return Standing("open") if waits else UNLABELLED
    if found.verdict == "label":
        return Standing("labelled", label=found.label)
    return Standing("skipped", detail=found.verdict)


def tally(places: Iterable[str]) -> Places:
    """How many items are in each place."""
    found = Counter(places)
    return Places(found["open"], found["labelled"], found["skipped"], found["quarantined"])


def _apart(answer: Answer, history: Sequence[Fact]) -> bool:
    """Whether it answers a question that is not asked to learn from."""
    return bool(answer.question) and any(
        isinstance(fact, Question) and fact.question == answer.question and fact.kind != "learn"
        for fact in history
    )


def _effective(
    said: Sequence[Answer], word: Resolution | None, policy: str, history: Sequence[Fact]
) -> Answer | Resolution | None:
    """The answer or the resolution that holds; none while there is none."""
    if policy == "latest":
        last = said[-1] if said else None
        return word if last is None or (word is not None and word.seq > last.seq) else last
    if word is not None or policy == "resolver":
        return word
    votes = {answer.annotator: answer for answer in said if answer.verdict != "skip"}
    votes = {name: answer for name, answer in votes.items() if answer.verdict != "retract"}
    needed = max((fact.needed for fact in history if isinstance(fact, Question)), default=1)
    if len(votes) < needed:
        return said[-1] if said and not votes else None
    counts = Counter((answer.verdict, answer.label) for answer in votes.values()).most_common(2)
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        return None  # a tie waits for one more answer, or for a resolution
    return next(answer for answer in votes.values() if (answer.verdict, answer.label) == counts[0][0])


def _last(history: Sequence[Fact], kind: type[Fact]) -> Fact | None:
    return next((fact for fact in reversed(history) if isinstance(fact, kind)), None)
