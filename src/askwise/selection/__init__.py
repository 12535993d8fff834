"""From scores, draws or features to the items asked together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from askwise.errors import InputError, check_options, choose, positive
from askwise.math.checks import check_features, check_log_probs, check_moments
from askwise.selection.badge import badge
from askwise.selection.batchbald import SaturationWarning, batchbald
from askwise.selection.gaussian_batchbald import gaussian_batchbald
from askwise.selection.k_center import k_center
from askwise.selection.lcmd import lcmd
from askwise.selection.needle import needle
from askwise.selection.stochastic import power, softmax, softrank
from askwise.selection.top_k import top_k
from askwise.selection.typiclust import typiclust
from askwise.types import Picks

_EVERY = ("classification", "multilabel", "regression", "segmentation")


@dataclass(frozen=True)
class Selection:
    """A selection function, and what the loop must know of it.

    `needs` names its inputs, any of `scores`, `log_probs`, `moments`, `features`, in its order. `sees`
    says which scored items it looks at: the `best`, as many as are picked; a `shortlist` of the best; or
    `all`. One that covers the pool is given a random sample instead of the highest scores. `cold_start` means
    that it can choose before there is a model, from the features of the network as given. `tasks` are
    those that it serves.
    """

    function: Callable[..., Picks]
    needs: tuple[str, ...]
    sees: Literal["best", "shortlist", "all"] = "shortlist"
    cold_start: bool = False
    tasks: tuple[str, ...] = _EVERY

    @property
    def covers(self) -> bool:
        """Whether it spreads its picks over the pool by their features."""
        return "features" in self.needs


_VECTORS = ("classification", "multilabel", "regression")  # what the last layer sees of an item is a vector

SELECTIONS: dict[str, Selection] = {
    "top_k": Selection(top_k, needs=("scores",), sees="best"),
    "power": Selection(power, needs=("scores",), sees="all"),
    "softmax": Selection(softmax, needs=("scores",), sees="all"),
    "softrank": Selection(softrank, needs=("scores",), sees="all"),
    "batchbald": Selection(batchbald, needs=("log_probs",), tasks=("classification",)),
    "k_center": Selection(k_center, needs=("features",), cold_start=True, tasks=_VECTORS),
    "needle": Selection(needle, needs=("features",), cold_start=True, tasks=_VECTORS),
    "typiclust": Selection(typiclust, needs=("features",), cold_start=True, tasks=_VECTORS),
    "badge": Selection(badge, needs=("log_probs", "features"), tasks=("classification", "multilabel")),
    "gaussian_batchbald": Selection(gaussian_batchbald, needs=("moments",), tasks=("regression",)),
    "lcmd": Selection(lcmd, needs=("features",), cold_start=True, tasks=_VECTORS),
}


def select(
    name: str,
    *,
    count: int,
    seed: int = 0,
    scores: Tensor | None = None,
    log_probs: Tensor | None = None,
    moments: Tensor | None = None,
    features: Tensor | None = None,
    ids: Sequence[str] | Sequence[int] | None = None,
    **options: Any,
) -> Picks:
    """Positions of the `count` items to ask together under a named selection, in order of choice.

    Ties and noise are decided by `seed` and `ids` (by default the positions), so that with ids a
    shuffled pool gives the same items.

    >>> aw.select("top_k", scores=torch.tensor([0.1, 0.9, 0.5]), count=2)
    tensor([1, 2])
    """
    selection = SELECTIONS[choose("selection", name, SELECTIONS)]
    check_options(f"selection {name!r}", selection.function, options, given=("count", "seed", "ids"))
    given = {"scores": scores, "log_probs": log_probs, "moments": moments, "features": features}
    inputs = _inputs(name, selection.needs, given)
    size = _size(inputs, ids)
    if positive("count", count) > size:
        raise InputError(f"count must be at most the number of items, {size}, not {count}")
    names = range(size) if ids is None else ids
    return selection.function(*inputs.values(), count=count, seed=seed, ids=names, **options)


def _inputs(name: str, needs: tuple[str, ...], given: Mapping[str, Tensor | None]) -> dict[str, Tensor]:
    """The inputs a selection needs, checked; what it does not need is refused, not ignored."""
    missing = [what for what in needs if given[what] is None]
    if missing:
        raise InputError(
            f"selection {name!r} needs {' and '.join(needs)}; {' and '.join(missing)} is missing"
        )
    extra = [what for what, value in given.items() if value is not None and what not in needs]
    if extra:
        raise InputError(f"selection {name!r} takes {' and '.join(needs)}, not {' and '.join(extra)}")
    checks: dict[str, Callable[[object], Tensor]] = {
        "scores": _check_scores,
        "log_probs": check_log_probs,
        "moments": check_moments,
        "features": check_features,
    }
    return {what: checks[what](given[what]) for what in needs}


def _size(inputs: Mapping[str, Tensor], ids: Sequence[str] | Sequence[int] | None) -> int:
    """The number of items, if all inputs agree on it."""
    sizes = {what: len(value) for what, value in inputs.items()}
    if ids is not None:
        sizes["ids"] = len(ids)
    if len(set(sizes.values())) > 1:
        raise InputError(
            f"the inputs differ in length: {', '.join(f'{n} {what}' for what, n in sizes.items())}"
        )
    return next(iter(sizes.values()))


def _check_scores(scores: object) -> Tensor:
    """The scores, if they are one finite number per item."""
    if not isinstance(scores, Tensor) or not scores.is_floating_point():
        found = scores.dtype if isinstance(scores, Tensor) else type(scores).__name__
        raise InputError(f"scores must be a floating-point torch tensor, not {found}")
    if scores.ndim != 1:
        raise InputError(f"scores must have one axis [N], not {list(scores.shape)}; reduce the sites first")
    if not scores.isfinite().all():
        where = int((~scores.isfinite()).nonzero()[0])
        raise InputError(f"scores must be finite, and position {where} is {scores[where].item()}")
    return scores
