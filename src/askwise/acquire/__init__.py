"""One score per item, higher = ask first: pure functions of log-probabilities, one idea per file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, TypeAlias

from torch import Tensor

from askwise.acquire.bald import bald
from askwise.acquire.epig import epig
from askwise.acquire.margin import margin
from askwise.acquire.max_entropy import max_entropy
from askwise.acquire.mean_std import mean_std
from askwise.acquire.numbers import gaussian_bald, variance_of_means
from askwise.acquire.random import random
from askwise.acquire.top_u import top_u
from askwise.acquire.variation_ratios import least_confidence, variation_ratios
from askwise.errors import InputError, check_options, choose
from askwise.math.checks import check_log_probs, check_moments
from askwise.types import SiteScores

_EVERY = ("classification", "multilabel", "regression", "segmentation")


@dataclass(frozen=True)
class Acquisition:
    """A score function, the inputs it needs, and the tasks it serves.

    `needs`: `log_probs` of the draws; with `targets`, those of target items too; `moments` of numbers; or
    `ids` alone. `of="mean"`: it looks at the mean prediction only, which is the one the posterior shows.
    """

    function: Callable[..., SiteScores]
    needs: Literal["ids", "log_probs", "targets", "moments"] = "log_probs"
    of: Literal["draws", "mean"] = "draws"
    tasks: tuple[str, ...] = ("classification", "multilabel", "segmentation")


ACQUISITIONS: dict[str, Acquisition] = {
    "random": Acquisition(random, needs="ids", tasks=_EVERY),
    "max_entropy": Acquisition(max_entropy, of="mean"),
    "variation_ratios": Acquisition(variation_ratios),
    "least_confidence": Acquisition(least_confidence, of="mean"),
    "bald": Acquisition(bald),
    "mean_std": Acquisition(mean_std),
    "margin": Acquisition(margin, of="mean"),
    "top_u": Acquisition(top_u),
    "epig": Acquisition(epig, needs="targets", tasks=("classification", "multilabel")),
    "variance_of_means": Acquisition(variance_of_means, needs="moments", tasks=("regression",)),
    "gaussian_bald": Acquisition(gaussian_bald, needs="moments", tasks=("regression",)),
}


Acquire: TypeAlias = str | Callable[..., SiteScores] | Acquisition
"""An acquisition: its name, or a function from log-probabilities [N, T, *sites, C] to scores."""


def as_acquisition(given: Acquire) -> tuple[str, Acquisition]:
    """The name and record of an acquisition, given by its name, or as a function of log-probabilities."""
    if isinstance(given, Acquisition):
        return getattr(given.function, "__name__", "own score"), given
    if callable(given):
        return getattr(given, "__name__", "own score"), Acquisition(_checked(given), tasks=_EVERY)
    return given, ACQUISITIONS[choose("acquisition", given, ACQUISITIONS)]


def _checked(own: Callable[..., SiteScores]) -> Callable[..., SiteScores]:
    """A score of one's own, refused where it does not give one number for each item."""

    @wraps(own)
    def scored(log_probs: Tensor, **options: Any) -> SiteScores:
        found = own(log_probs, **options)
        sizes = (log_probs.shape[:1], (*log_probs.shape[:1], *log_probs.shape[2:-1]))
        if not isinstance(found, Tensor) or found.shape not in sizes:
            what = list(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise InputError(
                f"the score {own.__name__!r} must give a tensor [{len(log_probs)}], one number for each "
                f"item, and gave {what}"
            )
        return found

    return scored


def score(
    acquire: Acquire,
    log_probs: Tensor | None = None,
    *,
    ids: Sequence[str] | Sequence[int] | None = None,
    seed: int = 0,
    targets: Tensor | None = None,
    **options: Any,
) -> SiteScores:
    """The score of every item and site [N, *sites] under an acquisition; higher = ask first.

    `acquire` is a name or a function from log-probabilities [N, T, *sites, C] to scores. `ids` and
    `seed` matter to `random` alone, `targets` to `epig` alone; the scores of numbers take moments
    [N, T, D, 2] where the others take log-probabilities.

    >>> sure_and_disagreeing = torch.tensor([[[0.0, -torch.inf], [-torch.inf, 0.0]]])
    >>> aw.score("bald", sure_and_disagreeing)                 # log 2
    tensor([0.6931])
    """
    name, acquisition = as_acquisition(acquire)
    check_options(f"acquisition {name!r}", acquisition.function, options, given=("seed", "targets"))
    if targets is not None and acquisition.needs != "targets":
        raise InputError(f"acquisition {name!r} takes no targets; only epig does")
    if acquisition.needs == "ids":
        return acquisition.function(_ids(name, ids, log_probs), seed=seed)
    if log_probs is None:
        wanted = "moments [N, T, D, 2]" if acquisition.needs == "moments" else "log_probs [N, T, *sites, C]"
        raise InputError(f"acquisition {name!r} needs {wanted}")
    if acquisition.needs == "moments":
        return acquisition.function(check_moments(log_probs), **options)
    log_probs = check_log_probs(log_probs)
    if acquisition.needs == "targets":
        if targets is None:
            raise InputError(
                f"acquisition {name!r} needs targets: log_probs [M, T, *sites, C] of the same draws"
            )
        options["targets"] = check_log_probs(targets, name="targets")
    return acquisition.function(log_probs, **options)


def _ids(
    name: str, ids: Sequence[str] | Sequence[int] | None, log_probs: Tensor | None
) -> Sequence[str] | Sequence[int]:
    """The ids to hash: those given, or the positions in log_probs."""
    if log_probs is None:
        if ids is None:
            raise InputError(f"acquisition {name!r} needs ids, or log_probs to count the items")
        return ids
    if ids is None:
        return range(len(log_probs))
    if len(log_probs) != len(ids):
        raise InputError(f"there are {len(ids)} ids for {len(log_probs)} items")
    return ids
