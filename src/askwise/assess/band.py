"""The accuracy band that may be looked at after every answer.

Test questions are uniform draws from a random region of the pool that is never trained on; all their answers
are scored again with the present model. The band bets against every error rate m at once (Waudby-Smith and
Ramdas 2023), on the answers alone and on the answers with the model's own uncertainty as control variate
(prediction-powered inference, Angelopoulos et al. 2023), and excludes the m against which it has won too
much.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from askwise.assess.checks import (
    between,
    group_means,
    numbered,
    probabilities,
    same_length,
)
from askwise.errors import InputError
from askwise.math.betting import last_kept, log_capital

PROMISE = (
    "The band is guaranteed for each version of the model, and holds over retrainings in simulation; it "
    "speaks of items drawn like this pool, not of new slides, patients or sources."
)
LEAST = 10
"""Test answers from which on a band is shown: with fewer it says next to nothing."""

STRICTER = 8
"""alpha is divided by this where a stop rule acts on the band: the rule picks the look that suits it, and
models that change much between looks give it more to pick from. results/honest.md has what both held."""

# Shares of the capital at stake, chosen for narrow bands on MNIST, digits, CIFAR-10 and TREC at 10 to 100
# answers. The promise does not depend on them: a mixture of fair games is a fair game.
BELOW = (0.2, 0.4, 0.6, 0.8, 0.95)  # bets that the error is below m: they give the upper limit
ABOVE = (0.01, 0.025, 0.06, 0.12, 0.25)  # that it is above m: errors are rare, and one of them pays much

_SLACK = 1e-6  # rounding of a prediction that was computed twice


@dataclass(frozen=True, kw_only=True)
class Band:
    """Accuracy between `low` and `high`, by so many answers, of so many `groups` where there are any.

    `share` is the share of right ones among the `answers`, `skipped` the share of test items that have none:
    these count as wrong in the lower limit and as right in the upper one. With groups the limits are those of
    the mean over groups, and so are both shares.
    """

    low: float
    high: float
    share: float
    answers: int
    skipped: float
    alpha: float
    groups: int | None = None


@dataclass(frozen=True, kw_only=True)
class Spread:
    """What a band needs to know of the uncertainty of the whole region: its mean, its ends, its size.

    >>> region = aw.assess.Spread.of(torch.linspace(0, 0.5, 1000))
    >>> region.count, float(region.mean)
    (1000, 0.25)
    """

    mean: Float[Tensor, "*runs"]
    low: Float[Tensor, "*runs"]
    high: Float[Tensor, "*runs"]
    count: int

    @classmethod
    def of(cls, uncertainty: Float[Tensor, "*runs B"]) -> "Spread":
        """The spread over every item of the region, or over every group."""
        low, high = uncertainty.amin(dim=-1), uncertainty.amax(dim=-1)
        return cls(mean=uncertainty.mean(dim=-1), low=low, high=high, count=uncertainty.shape[-1])

    @classmethod
    def read(cls, written: Mapping[str, int | float]) -> "Spread":
        """The spread of one region, from what `written` gave."""
        mean, low, high = (
            torch.tensor(written[name], dtype=torch.float64) for name in ("mean", "low", "high")
        )
        return cls(mean=mean, low=low, high=high, count=int(written["count"]))

    def written(self) -> dict[str, int | float]:
        """The spread of one region as plain numbers."""
        ends = {"mean": float(self.mean), "low": float(self.low), "high": float(self.high)}
        return {"count": self.count, **ends}


def band(
    wrong: Bool[Tensor, " n"],
    uncertainty: Float[Tensor, " n"] | None = None,
    region_uncertainty: Float[Tensor, " B"] | Spread | None = None,
    *,
    alpha: int | float = 0.05,
    skipped: Bool[Tensor, " n"] | None = None,
    groups: Sequence[Hashable] | None = None,
    region_groups: Sequence[Hashable] | None = None,
    stopping: bool = False,
) -> Band:
    """The band of the accuracy, from n test answers in the order in which they were drawn.

    `uncertainty` is 1 minus the probability of the predicted class for the test items, `region_uncertainty`
    the same for the whole region, test items included (or its `Spread`); without them the band is wider. With
    groups (patients, slides) a draw is a group of the region, then an item in it: the band speaks of the mean
    over groups; a `Spread` and the uncertainties are then those of the groups' means.
    `stopping` takes the stricter constant, for a band that a stop rule acts on.

    >>> wrong = torch.arange(200) % 10 == 0  # every tenth test answer was wrong
    >>> found = aw.assess.band(wrong)
    >>> found.answers, round(found.low, 2), round(found.high, 2)
    (200, 0.82, 0.95)
    """
    _check(wrong, skipped, alpha)
    if stopping:
        alpha = alpha / STRICTER
    if (uncertainty is None) != (region_uncertainty is None):
        raise InputError("give the uncertainty of the test items and of the whole region, or neither")
    unsure = torch.zeros_like(wrong) if skipped is None else skipped
    worst, best = (wrong | unsure).double(), (wrong & ~unsure).double()
    if region_groups is not None and groups is None:
        raise InputError("region_groups are given without the groups of the test items")
    if groups is not None:
        worst, best, uncertainty, region_uncertainty = _by_group(
            worst, best, uncertainty, groups, region_uncertainty, region_groups
        )
    enough(len(worst), what="test answers" if groups is None else "groups with test answers")
    region = None
    if uncertainty is not None and region_uncertainty is not None:
        uncertainty, region = _region(worst, uncertainty, region_uncertainty)
    low, high = limits(worst, best, uncertainty, region, alpha)
    return told(low, high, wrong, unsure, alpha, groups=groups)


def readings(
    values: Float[Tensor, "*runs n"], uncertainty: Float[Tensor, "*runs n"], region: Spread
) -> tuple[Float[Tensor, "*runs 2 n"], Float[Tensor, "*runs 2"], Float[Tensor, "*runs 2"]]:
    """The values as they are and with the control variate, and the lower and upper bounds of both."""
    mean = region.mean
    both = torch.stack([values, values + mean.unsqueeze(-1) - uncertainty], dim=-2)
    low = torch.stack([torch.zeros_like(mean), mean - region.high], dim=-1)
    high = torch.stack([torch.ones_like(mean), 1 + mean - region.low], dim=-1)
    return both, low, high


def limits(
    worst: Float[Tensor, " n"],
    best: Float[Tensor, " n"],
    uncertainty: Float[Tensor, " n"] | None,
    region: Spread | None,
    alpha: float,
) -> tuple[float, float]:
    """Lower and upper limit of the accuracy; `worst` and `best` differ where an answer is missing."""
    if uncertainty is None or region is None:
        high_values, low_values = worst.unsqueeze(0), best.unsqueeze(0)
        low, high = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    else:
        high_values, low, high = readings(worst, uncertainty, region)
        low_values, _, _ = readings(best, uncertainty, region)
    won = math.log(2 / alpha)  # half of alpha on each side
    zero, one = torch.zeros((), dtype=torch.float64), torch.ones((), dtype=torch.float64)
    most = last_kept(lambda m: log_capital(high_values, m, high, BELOW) >= won, zero, one)
    least = last_kept(lambda m: log_capital(low_values, m, low, ABOVE) >= won, one, zero)
    return 1 - float(most), 1 - float(least)


def told(
    low: float,
    high: float,
    wrong: Tensor,
    unsure: Tensor,
    alpha: float,
    *,
    groups: Sequence[Hashable] | None = None,
) -> Band:
    """The band of these limits, with the shares that are shown beside it."""
    own = range(len(wrong)) if groups is None else groups  # an item is its own group
    known = (~unsure).tolist()
    right = _mean((~wrong)[~unsure], [group for group, yes in zip(own, known, strict=True) if yes])
    return Band(
        low=low,
        high=high,
        share=right,
        answers=sum(known),
        skipped=_mean(unsure, own),
        alpha=alpha,
        groups=None if groups is None else len(numbered(groups)),
    )


def _mean(values: Tensor, groups: Sequence[Hashable]) -> float:
    """The mean of the groups' means; none where there is no value."""
    if not len(values):
        return math.nan
    names = numbered(groups)
    group = torch.tensor([names[one] for one in groups], dtype=torch.int64)
    return float(group_means(values.double(), group, len(names)).mean())


def _check(wrong: Tensor, skipped: Tensor | None, alpha: int | float) -> None:
    between("alpha", alpha)
    if skipped is not None:
        same_length(wrong=len(wrong), skipped=len(skipped))


def enough(count: int, *, what: str) -> None:
    """Refuse a band from too few answers."""
    if count < LEAST:
        raise InputError(
            f"a band needs at least {LEAST} {what}, and there are {count}; answer {LEAST - count} more"
        )


def _region(worst: Tensor, uncertainty: Tensor, given: Tensor | Spread) -> tuple[Tensor, Spread]:
    """Both, checked and in float64; the test items are part of the region."""
    uncertainty = probabilities("uncertainty", uncertainty)
    same_length(wrong=len(worst), uncertainty=len(uncertainty))
    count = given.count if isinstance(given, Spread) else len(given)
    if count < max(LEAST, len(worst)):
        raise InputError(
            f"the region is too small: {count} items for {len(worst)} test answers, and it needs at "
            f"least {max(LEAST, len(worst))}; set a larger share of the pool aside"
        )
    region = given if isinstance(given, Spread) else Spread.of(probabilities("region_uncertainty", given))
    inside = region.low - _SLACK <= uncertainty.min() and uncertainty.max() <= region.high + _SLACK
    if not inside:
        raise InputError(
            "a test item is more or less uncertain than all of the region; score both with one model"
        )
    return uncertainty.clamp(region.low, region.high), region


def _by_group(
    worst: Tensor,
    best: Tensor,
    uncertainty: Tensor | None,
    groups: Sequence[Hashable],
    region_uncertainty: Tensor | Spread | None,
    region_groups: Sequence[Hashable] | None,
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | Spread | None]:
    """One value for each group: the mean of its answers, the mean uncertainty of all its items."""
    same_length(wrong=len(worst), groups=len(groups))
    names = numbered(groups)
    group = torch.tensor([names[one] for one in groups], dtype=torch.int64)
    worst, best = (group_means(values, group, len(names)) for values in (worst, best))
    if uncertainty is None or region_uncertainty is None:
        return worst, best, None, None
    if isinstance(region_uncertainty, Spread):
        return worst, best, group_means(uncertainty.double(), group, len(names)), region_uncertainty
    if region_groups is None:
        raise InputError(
            "the test items have groups; give region_groups, the group of every item of the region"
        )
    same_length(region_uncertainty=len(region_uncertainty), region_groups=len(region_groups))
    places = numbered(region_groups)
    unknown = [name for name in names if name not in places]
    if unknown:
        raise InputError(
            f"the region has no group {unknown[0]!r}, and a test item is in it; the region is whole groups"
        )
    place = torch.tensor([places[one] for one in region_groups], dtype=torch.int64)
    every = group_means(probabilities("region_uncertainty", region_uncertainty), place, len(places))
    return worst, best, every[[places[name] for name in names]], every
