"""How good the last model is by the test answers, read from the facts alone: after every answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from askwise.assess import Band, Forecast, Recalls, Spread, band, forecast, recalls, tags
from askwise.errors import InputError
from askwise.loop.plan import Plan
from askwise.loop.testing import Testing
from askwise.oracle.labelling import labelling
from askwise.store.facts import Round

VOID = (
    "It is void if test answers influence training or settings, or if the items to come are unlike the pool."
)
_STEADY = 3  # trainings in a row
_UNTESTED = "the last model was not tested: the items kept for testing are still being encoded"


@dataclass(frozen=True)
class Marks:
    """What the last model says of the test items, in the order in which they were drawn."""

    labels: Int64[Tensor, " n"]
    """-1 where the item was skipped."""
    predicted: Int64[Tensor, " n"]
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
    accuracy: Band | None = None
    why: str = ""
    """Why there is no band."""
    recalls: Recalls | None = None
    tags: Mapping[str, Band] = field(default_factory=dict)
    """The accuracy of every tag, where labels are tags; all of them hold together."""
    estimates: Mapping[str, int | float] = field(default_factory=dict)
    """Measures on the test answers without a promise."""
    forecast: Forecast | None = None


def quality(plan: Plan, testing: Testing, rounds: Sequence[Round]) -> Quality | None:
    """How good the last model is; None where nothing is kept for testing."""
    if not testing.on:
        return None
    done = testing.tested()
    skipped = sum(one.label is None for one in done)
    counts: dict[str, Any] = {"answers": len(done) - skipped, "skipped": skipped}
    measured = rounds[-1].metrics.get("testing") if rounds else None
    if measured is None:
        return Quality(**counts, why=_UNTESTED if rounds else "there is no model yet")
    told: dict[str, Any] = {"estimates": measured.get("estimates", {})}
    if plan.kind == "multilabel":
        return _tagged(plan, testing, measured, counts | told)
    found = marks(testing, rounds)
    if found is None:
        return Quality(**counts, **told, why=f"there is no band for {plan.kind}")
    told["forecast"] = next_labels(rounds)
    try:
        told["accuracy"] = found.band()
    except InputError as error:
        return Quality(**counts, **told, why=str(error))
    known = ~found.skipped
    if found.groups is None:
        told["recalls"] = recalls(
            found.labels[known],
            found.predicted[known],
            classes=len(plan.classes),
            skipped=int(found.skipped.sum()),
        )
    return Quality(**counts, **told)


def marks(testing: Testing, rounds: Sequence[Round]) -> Marks | None:
    """The test answers as the last model scores them; None before the first model."""
    measured = rounds[-1].metrics.get("testing") if rounds else None
    if measured is None or not isinstance(measured.get("region"), Mapping):
        return None
    done = [one for one in testing.tested() if one.id in measured["items"]]
    known = [measured["items"][one.id] for one in done]
    return Marks(
        torch.tensor([one.label if isinstance(one.label, int) else -1 for one in done], dtype=torch.int64),
        torch.tensor([guess for guess, _ in known], dtype=torch.int64),
        torch.tensor([uncertainty for _, uncertainty in known], dtype=torch.float64),
        Spread.read(measured["region"]),
        tuple(testing.group_of(one.id) for one in done) if testing.groups else None,
    )


def enough(plan: Plan, testing: Testing, rounds: Sequence[Round]) -> str:
    """Which stop rule of the plan holds, in a sentence; empty if none does."""
    if plan.stable is not None:
        changed = [one.metrics.get("testing", {}).get("changed") for one in rounds[-_STEADY:]]
        if len(changed) == _STEADY and all(c is not None and c < plan.stable for c in changed):
            return (
                f"predictions are stable: less than {100 * plan.stable:g} % of them changed in each of the "
                f"last {_STEADY} trainings"
            )
    if plan.gain is not None and (next_ := next_labels(rounds)) is not None and next_.gain < plan.gain:
        return (
            f"by a forecast the next {next_.ahead} labels should bring {100 * next_.gain:.1f} points, less "
            f"than {100 * plan.gain:g}"
        )
    if plan.until is not None and (found := marks(testing, rounds)) is not None:
        try:
            low = found.band(stopping=True).low
        except InputError:
            return ""  # too few answers so far
        if low >= plan.until:
            return f"the accuracy's lower limit is {100 * low:.1f} %, and {100 * plan.until:g} % was wanted"
    return ""


def _tagged(plan: Plan, testing: Testing, measured: Mapping[str, Any], told: dict[str, Any]) -> Quality:
    """With the band of every tag; a tag that nobody knows counts as one that was skipped."""
    done = [one for one in testing.tested() if one.id in measured["items"]]
    known = [measured["items"][one.id] for one in done]
    kind = labelling(plan.task, plan.names)
    blank = torch.full((len(plan.names),), -1.0)
    truth = [blank if one.label is None else kind.row(one.label) for one in done]
    if not done or testing.groups:
        why = "there are no test answers yet" if not done else "with groups tags have no band"
        return Quality(**told, why=why)
    labels, guess = torch.stack(truth).long(), torch.tensor([said for said, _ in known])
    try:
        bands = tags(
            (guess != labels) & (labels >= 0),
            torch.tensor([uncertainty for _, uncertainty in known], dtype=torch.float64),
            [Spread.read(one) for one in measured["region"]],
            skipped=labels < 0,
        )
    except InputError as error:
        return Quality(**told, why=str(error))
    return Quality(**told, tags=dict(zip(plan.names, bands, strict=True)))


def next_labels(rounds: Sequence[Round]) -> Forecast | None:
    """What the next labels should bring; None with too few trainings, and where there are no classes."""
    told = [(one.labels, one.metrics.get("testing", {}).get("region")) for one in rounds]
    seen = {labels: 1 - region["mean"] for labels, region in told if isinstance(region, Mapping)}
    grown = [labels for labels in sorted(seen) if labels]
    try:
        return forecast(grown, [seen[labels] for labels in grown])
    except InputError:
        return None
