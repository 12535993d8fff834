"""How good the last model is by the test answers, read from the facts alone: after every answer."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from typing import Any, TypeAlias

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from askwise.assess import Band, Forecast, Recalls, Spread, band, forecast, recalls, tags
from askwise.assess.band import LEAST
from askwise.assess.forecast import WINDOW
from askwise.errors import InputError
from askwise.loop.noted import GROWN, KEPT, TESTING, Noted
from askwise.loop.plan import Plan
from askwise.loop.testing import Tested, Testing
from askwise.oracle.labelling import labelling
from askwise.store.facts import Round
from askwise.store.labels import Label

VOID = (
    "It is void if test answers influence training or settings, or if the items to come are unlike the pool."
)
CHANGED, FORECAST = "changed", "forecast"
_STEADY = 3  # trainings in a row
_UNTESTED = "the last model was not tested: the items kept for testing are still being encoded"

Tests: TypeAlias = Testing | Noted
"""The test questions and what was said: by all the facts, or by a round's note and what came since."""


@dataclass(frozen=True)
class Marks:
    """What the last model says of the test items, in the order in which they were drawn."""

    labels: Int64[Tensor, " n"]
    """-1 where the item was skipped."""
    predicted: Int64[Tensor, " n"]
    """As these classes count by now; -1 where one was split or retired."""
    uncertainty: Float[Tensor, " n"]
    region: Spread
    groups: tuple[str, ...] | None = None

    @property
    def skipped(self) -> Bool[Tensor, " n"]:
        """Which items have no answer."""
        return self.labels < 0

    def band(self, *, stopping: bool = False) -> Band:
        """The band of the accuracy; `stopping` takes the stricter constant."""
        wrong = (self.predicted != self.labels) & ~self.skipped
        return band(
            wrong,
            self.uncertainty,
            self.region,
            skipped=self.skipped,
            groups=self.groups,
            stopping=stopping,
        )


@dataclass(frozen=True, kw_only=True)
class Quality:
    """What is known of the last model: promises (bands), estimates, a forecast, each called what it is."""

    answers: int
    skipped: int
    """Test items that were skipped, or on which answers disagree until somebody settles it."""
    added: int = 0
    """Items that those kept for testing have gained since the last model: no promise speaks of them."""
    accuracy: Band | None = None
    why: str = ""
    """Why there is no band."""
    recalls: Recalls | None = None
    tags: Mapping[str, Band] = field(default_factory=dict)
    """The accuracy of every tag, where labels are tags; all of them hold together."""
    estimates: Mapping[str, int | float] = field(default_factory=dict)
    """Measures on the test answers without a promise."""
    forecast: Forecast | None = None


def quality(plan: Plan, tests: Tests, last: Round | None) -> Quality | None:
    """How good the last model is; None where nothing is kept for testing."""
    if not tests.on:
        return None
    tally = tests.tally
    counts: dict[str, Any] = {"answers": tally.answered, "skipped": tally.skipped + tally.unsettled}
    measured = None if last is None else last.metrics.get(TESTING)
    if last is None or measured is None:
        return Quality(**counts, why=_UNTESTED if last is not None else "there is no model yet")
    counts["added"] = added(tests, measured)
    told: dict[str, Any] = {"estimates": measured.get("estimates", {})}
    if plan.kind == "multilabel":
        return _tagged(plan, tests, measured, counts | told)
    found = marks(tests, last)
    if found is None:
        few = "" if told["estimates"] else f", and estimates need {LEAST} test answers"
        return Quality(**counts, **told, why=f"there is no band for {plan.kind}{few}")
    told["forecast"] = next_labels(last)
    try:
        told["accuracy"] = found.band()
    except InputError as error:
        return Quality(**counts, **told, why=_why(tests, measured, str(error)))
    known = ~found.skipped
    if found.groups is None and len(plan.classes) - len(tests.rules.into) > 1:
        told["recalls"] = recalls(
            found.labels[known],
            found.predicted[known],
            classes=len(plan.classes),
            gone=tests.rules.into,
            skipped=int(found.skipped.sum()),
        )
    return Quality(**counts, **told)


def marks(tests: Tests, last: Round | None) -> Marks | None:
    """The test answers as the last model scores them; None before the first model."""
    measured = None if last is None else last.metrics.get(TESTING)
    if measured is None or not isinstance(measured.get("region"), Mapping):
        return None
    done = drawn(tests, measured)
    known = [measured["items"][one.id] for one in done]
    guesses = [tests.rules.counts_for(guess) for guess, _ in known]
    return Marks(
        _numbers([one.label for one in done]),
        _numbers(guesses),
        torch.tensor([uncertainty for _, uncertainty in known], dtype=torch.float64),
        Spread.read(measured["region"]),
        tuple(tests.group_of(one.id) for one in done) if tests.groups else None,
    )


def drawn(tests: Tests, measured: Mapping[str, Any]) -> list[Tested]:
    """The test items that are uniform draws from all that the model was measured on.

    They are asked in a random order, so that those asked are a uniform sample. Items that are added later
    have their places in that order too, many of them before the last one asked. From then on it is the
    beginning of the order that counts, up to the first item that was not asked; these are asked next.
    """
    items = measured["items"]
    done = {one.id: one for one in tests.tested() if one.id in items}
    if not measured.get(GROWN):
        return list(done.values())
    return [done[name] for name in takewhile(lambda name: name in tests.asked, items) if name in done]


def added(tests: Tests, measured: Mapping[str, Any]) -> int:
    """How many items the part that is kept for testing has gained since a model was measured on it."""
    return max(0, tests.size - int(measured.get(KEPT, tests.size)))


def _why(tests: Tests, measured: Mapping[str, Any], reason: str) -> str:
    """Why there is no band: the reason, unless answers wait for items that were added."""
    waiting = sum(one.id in measured["items"] for one in tests.tested()) - len(drawn(tests, measured))
    if not waiting:
        return reason
    return (
        f"items were added to the pool; {waiting} test answers count again as soon as the new items that "
        "come before them in the random order were asked, which is next"
    )


def _numbers(labels: Sequence[Label | None]) -> Int64[Tensor, " n"]:
    """The classes as numbers, -1 where there is none."""
    return torch.tensor([one if isinstance(one, int) else -1 for one in labels], dtype=torch.int64)


def enough(plan: Plan, tests: Tests, last: Round | None) -> str:
    """Which stop rule of the plan holds, in a sentence; empty if none does."""
    if plan.stable is not None:
        changed = [] if last is None else last.metrics.get(TESTING, {}).get(CHANGED, [])
        if len(changed) == _STEADY and all(c is not None and c < plan.stable for c in changed):
            return (
                f"predictions are stable: less than {100 * plan.stable:g} % of them changed in each of the "
                f"last {_STEADY} trainings"
            )
    if plan.gain is not None and (next_ := next_labels(last)) is not None and next_.gain < plan.gain:
        return (
            f"by a forecast the next {next_.ahead} labels should bring {100 * next_.gain:.1f} points, less "
            f"than {100 * plan.gain:g}"
        )
    if plan.until is not None and (found := marks(tests, last)) is not None:
        if last is not None and added(tests, last.metrics[TESTING]):
            return ""  # the band leaves out what was added; the next model is measured on it
        try:
            low = found.band(stopping=True).low
        except InputError:
            return ""  # too few answers so far
        if low >= plan.until:
            return f"the accuracy's lower limit is {100 * low:.1f} %, and {100 * plan.until:g} % was wanted"
    return ""


def _tagged(plan: Plan, tests: Tests, measured: Mapping[str, Any], told: dict[str, Any]) -> Quality:
    """With the band of every tag; a tag that nobody knows counts as one that was skipped."""
    done = drawn(tests, measured)
    known = [measured["items"][one.id] for one in done]
    kind = labelling(plan.task, plan.names)
    blank = torch.full((len(plan.names),), -1.0)
    truth = [blank if one.label is None else kind.row(one.label) for one in done]
    if not done or tests.groups:
        why = "there are no test answers yet" if not done else "with groups tags have no band"
        return Quality(**told, why=_why(tests, measured, why))
    labels, guess = torch.stack(truth).long(), torch.tensor([said for said, _ in known])
    try:
        bands = tags(
            (guess != labels) & (labels >= 0),
            torch.tensor([uncertainty for _, uncertainty in known], dtype=torch.float64),
            [Spread.read(one) for one in measured["region"]],
            skipped=labels < 0,
        )
    except InputError as error:
        return Quality(**told, why=_why(tests, measured, str(error)))
    return Quality(**told, tags=dict(zip(plan.names, bands, strict=True)))


def next_labels(last: Round | None) -> Forecast | None:
    """What the next labels should bring, as the last model has noted it; None where it could not tell."""
    found = None if last is None else last.metrics.get(TESTING, {}).get(FORECAST)
    return None if found is None else Forecast(**found)


def course(past: Sequence[Round], labels: int, found: Mapping[str, Any]) -> dict[str, Any]:
    """What a new round notes of the way to it: the share of changes in the last trainings, and a forecast."""
    before = [one.metrics.get(TESTING, {}).get(CHANGED, [None])[-1] for one in past[1 - _STEADY :]]
    seen = {labels: found["region"]}
    for one in reversed(past):
        if one.labels < labels - WINDOW:
            break
        seen.setdefault(one.labels, one.metrics.get(TESTING, {}).get("region"))
    mean = {n: 1 - spread["mean"] for n, spread in sorted(seen.items()) if n and isinstance(spread, Mapping)}
    try:
        told = asdict(forecast(list(mean), list(mean.values())))
    except InputError:  # too few trainings so far
        told = None
    return {CHANGED: [*before, found["changed"]], FORECAST: told}
