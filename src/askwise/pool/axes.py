"""The directions in which a pool's features differ, as a head that learns from few labels wants them."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.errors import InputError, positive
from askwise.types import Features


@dataclass(frozen=True)
class Axes:
    """The centre of a pool, its principal axes and the variance along each; fixed once they are fitted."""

    centre: Float[Tensor, " D"]
    directions: Float[Tensor, "D A"]
    variance: Float[Tensor, " A"]

    def __call__(self, features: Features, *, power: float = 0.5) -> Float[Tensor, "N A"]:
        """The features along the axes, axis j weighted by its variance to the `power`, every row of length 1.

        A half stresses what varies most, the opposite of whitening: with up to a hundred labels that is
        where classes are told apart. Zero leaves the axes as they are.
        """
        along = (features.double() - self.centre) @ (self.directions * self.variance**power)
        return torch.nn.functional.normalize(along, dim=1).float()

    @cached_property
    def digest(self) -> str:
        """What tells these axes from others: a round records which it has seen."""
        parts = (self.centre, self.directions, self.variance)
        return sha256(b"".join(part.contiguous().numpy().tobytes() for part in parts)).hexdigest()


def fit_axes(features: Features, *, count: int = 128) -> Axes:
    """The first `count` principal axes of these features; fewer where the items span fewer.

    >>> axes = aw.pool.fit_axes(x, count=2)
    >>> axes(x).shape
    torch.Size([60, 2])
    """
    if len(features) < 2 or not bool(features.isfinite().all()):
        raise InputError(f"axes want at least two rows of finite features, not {list(features.shape)}")
    centre = features.double().mean(dim=0)
    about = features.double() - centre
    variance, directions = torch.linalg.eigh(about.T @ about / len(about))
    kept = min(positive("count", count), len(features) - 1, features.shape[1])
    variance, directions = variance.flip(0)[:kept].clamp(min=0), directions.flip(1)[:, :kept]
    # the sign of an axis is free: the largest entry decides, so that the same pool gives the same axes
    largest = directions.abs().argmax(dim=0)
    directions = directions * directions[largest, torch.arange(kept)].sign()
    return Axes(centre, directions, variance)
