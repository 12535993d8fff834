"""What the optimizers share: options, sampled weights in place, and the means over samples."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from askwise.errors import InputError, above_zero, at_least_zero, positive

_ALONE, _NOISY = 3.0, 1.5  # what one gradient may be: times the radius of a step, times a batch's noise
NOISES = ("flipout", "sample")
"""Weights of its own for every item of a batch, or one sample for all of them."""


def check_betas(betas: Sequence[float]) -> tuple[float, float]:
    """`betas`, if both are from 0 up to below 1: how much of the past an average keeps at a step."""
    if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
        raise InputError(f"betas are two numbers from 0 up to below 1, not {betas!r}")
    return betas[0], betas[1]


def rate(step: int, *, beta: float, take_in: int | None, remembered: float) -> float:
    """How far an average of curvatures goes towards the newest at a step, the first of which is 1.

    It is 1 - beta; or, where the curvature is taken in over the first `take_in` steps, 1 / take_in in each
    of them, and afterwards what makes the average remember the share `remembered` of all steps so far. An
    average at a constant rate would never forget the curvature of bad first weights where that of the last
    is tiny.
    """
    if take_in is None:
        return 1 - beta
    return 1 / take_in if step <= take_in else min(0.5, 1 / (remembered * step))


def common_options(
    *,
    lr: float,
    count: int | float,
    betas: Sequence[float],
    take_in: int | None,
    clip_radius: float,
    batch_size: int | None,
) -> dict[str, Any]:
    """The options that every optimizer here has, checked."""
    if batch_size is not None and not clip_radius < float("inf"):
        raise InputError("batch_size says which gradients are outliers, and needs a clip_radius beside it")
    return {
        "lr": at_least_zero("lr", lr),
        "count": above_zero("count", count),
        "betas": check_betas(betas),
        "take_in": None if take_in is None else positive("take_in", take_in),
        "clip_radius": check_radius(clip_radius),
        "batch_size": None if batch_size is None else positive("batch_size", batch_size),
    }


def check_radius(radius: float) -> float:
    """`radius`, if it is above zero; infinity cuts nothing."""
    if not radius > 0:
        raise InputError(f"clip_radius must be above 0, not {radius!r}")
    return radius


def without_outliers(gradient: Tensor, curvature: Tensor, *, added: float, group: dict[str, Any]) -> Tensor:
    """`gradient`, cut where it is an outlier; as it is if the optimizer was not told its batch size.

    The step itself is cut too. But the momentum would carry one huge gradient through the next ten
    steps, each as long as a step may be. So a gradient is cut where it alone would move a weight more
    than three times that far, and is beyond 1.5 deviations of a batch's mean gradient: the curvature is
    about the variance of one item's gradient. As the learning rate falls below its first value more
    deviations are let through, because cutting skewed gradients moves the point where means settle.
    `added` is what a step adds to the curvature: a prior, a damping.
    """
    if group.get("batch_size") is None or not group["lr"]:
        return gradient
    pace = min(1.0, group["lr"] / group.get("initial_lr", group["lr"]))
    noise = (curvature.clamp(min=0) / group["batch_size"]).sqrt_().mul_(_NOISY / pace)
    most = noise.maximum((curvature + added).mul_(_ALONE * group["clip_radius"]))
    return gradient.minimum(most).maximum(most.neg_())


@contextmanager
def placed(parameters: Sequence[Parameter], values: Sequence[Tensor]) -> Iterator[None]:
    """The parameters with other values and no gradients; afterwards with their own again, to the bit."""
    own = [p.detach().clone() for p in parameters]
    for parameter in parameters:
        parameter.grad = None
    try:
        _copy(parameters, values)
        yield
    finally:
        _copy(parameters, own)


def _copy(parameters: Sequence[Parameter], values: Sequence[Tensor]) -> None:
    with torch.no_grad():
        torch._foreach_copy_(list(parameters), list(values))


def gradients(parameters: Sequence[Tensor]) -> list[Tensor]:
    """The gradient of each tensor; zeros where the loss does not depend on it."""
    return [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]


def normal(like: Sequence[Tensor], rng: torch.Generator) -> list[Tensor]:
    """Standard normal noise in the shapes of some tensors, one after the other from one stream."""
    # In the order of the shape, not of the memory: a layout with the channels last has the same noise.
    return [torch.randn(t.shape, generator=rng, device=t.device, dtype=t.dtype) for t in like]


class Samples:
    """Sums over the samples of a step, by name; each sum is a list of tensors, one per parameter."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.taken = positive("samples", wanted), 0
        self._sums: dict[str, list[Tensor]] = {}

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Where a sample is computed; if that fails, the step starts over without its earlier samples."""
        done = False
        try:
            yield
            done = True
        finally:
            if not done:
                self.clear()

    def add(self, **parts: list[Tensor]) -> None:
        """Count one sample."""
        for name, tensors in parts.items():
            if self.taken:
                torch._foreach_add_(self._sums[name], tensors)
            elif self.wanted > 1:  # these are added to later, and must be ours
                self._sums[name] = [tensor.clone() for tensor in tensors]
            else:
                self._sums[name] = tensors
        self.taken += 1

    def means(self) -> dict[str, list[Tensor]]:
        """The mean of everything that was added; the next step starts anew."""
        if self.taken != self.wanted:
            raise InputError(
                f"step() needs {self.wanted} gradient samples and has {self.taken}; compute every loss and "
                "call backward() inside `with optimizer.sampling():`"
            )
        found = self._sums
        if self.wanted > 1:
            for tensors in found.values():
                torch._foreach_div_(tensors, self.wanted)
        self.clear()
        return found

    def refuse_open(self) -> None:
        """An error between sampling() and step(), where a saved state would be half a step."""
        if self.taken:
            raise InputError("an optimizer is saved between its steps; call step() first")

    def clear(self) -> None:
        """Forget the samples of this step."""
        self.taken, self._sums = 0, {}
