"""Areas under the learning curves beside a baseline's: paired over the seeds, corrected for being several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from askwise.math.paired import Difference, Verdict, difference, holm, verdict
from askwise.report.content import Curve
from askwise.report.curves import area


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A method's area under the curve to a budget, and how far it is from the baseline's.

    The difference has Holm's p over all methods of the table; where there is none, `why` says so.
    """

    name: str
    n: int
    area: float | None = None
    difference: Difference | None = None
    adjusted_p: float | None = None
    verdict: Verdict | None = None
    why: str = ""


@dataclass(frozen=True)
class Gaps:
    """The gaps of all methods, and the number of labels up to which all curves go."""

    budget: int
    methods: Mapping[str, Gap]


def gaps(curves: Sequence[Curve], *, baseline: str = "random", budget: int | None = None) -> Gaps:
    """The gap of every curve to the baseline, up to the budget: by default as far as all curves go."""
    reach = min((curve.labels[-1] for curve in curves), default=0) if budget is None else budget
    base = next((curve for curve in curves if curve.name == baseline), None)
    found = [_gap(curve, base, reach) for curve in curves]
    adjusted = iter(holm([gap.difference.p for gap in found if gap.difference is not None]))
    for place, gap in enumerate(found):
        if gap.difference is not None:
            p = next(adjusted)
            found[place] = replace(gap, adjusted_p=p, verdict=verdict(gap.difference, p))
    return Gaps(reach, {gap.name: gap for gap in found})


def _gap(curve: Curve, base: Curve | None, budget: int) -> Gap:
    gap = Gap(name=curve.name, n=len(curve.seeds))
    if not _reaches(curve, budget):
        return replace(gap, why=f"has no curve to {budget:,} labels")
    ours = _areas(curve, budget)
    gap = replace(gap, area=fmean(ours.values()))
    if base is None or base is curve:
        return gap
    if not _reaches(base, budget) or base.labels[0] != curve.labels[0]:
        return replace(gap, why=f"not compared: {base.name} has {_range(base)}, and this {_range(curve)}")
    theirs = _areas(base, budget)
    shared = [seed for seed in ours if seed in theirs]
    if len(shared) < 2:
        return replace(gap, why="one seed: no interval" if shared else f"no seed in common with {base.name}")
    return replace(gap, difference=difference([ours[s] for s in shared], [theirs[s] for s in shared]))


def _reaches(curve: Curve, budget: int) -> bool:
    return curve.labels[0] <= budget <= curve.labels[-1]


def _range(curve: Curve) -> str:
    return f"{curve.labels[0]:,} to {curve.labels[-1]:,} labels"


def _areas(curve: Curve, budget: int) -> dict[int, float]:
    """By seed."""
    rows = zip(curve.seeds, curve.values, strict=True)
    return {seed: area(curve.labels, row, budget=budget) for seed, row in rows}
