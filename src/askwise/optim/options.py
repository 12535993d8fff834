"""Options that the optimizers share, checked."""

from collections.abc import Sequence

from askwise.errors import InputError

_REMEMBERED = 0.1  # of the steps so far
NOISES = ("flipout", "sample")
"""Weights of its own for every item of a batch, or one sample for all of them."""


def check_betas(betas: Sequence[float]) -> tuple[float, float]:
    """`betas`, if both are from 0 up to below 1: how much of the past an average keeps at a step."""
    if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
        raise InputError(f"betas are two numbers from 0 up to below 1, not {betas!r}")
    return betas[0], betas[1]


def rate(step: int, *, beta: float, take_in: int | None) -> float:
    """How far an average of curvatures goes towards the newest at a step, the first of which is 1.

    It is 1 - beta; or, where the curvature is taken in over so many first steps, a share of one in each
    of them, and afterwards what makes the average remember a tenth of all steps so far. An average at a
    constant rate would never forget the curvature of bad first weights where that of the last is tiny.
    """
    if take_in is None:
        return 1 - beta
    return 1 / take_in if step <= take_in else min(0.5, 1 / (_REMEMBERED * step))


def check_radius(radius: float) -> float:
    """`radius`, if it is above zero; infinity cuts nothing."""
    if not radius > 0:
        raise InputError(f"clip_radius must be above 0, not {radius!r}")
    return radius
