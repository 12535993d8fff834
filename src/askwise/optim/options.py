"""Options that the optimizers share, checked."""

from collections.abc import Sequence

from askwise.errors import InputError


def check_betas(betas: Sequence[float]) -> tuple[float, float]:
    """`betas`, if both are from 0 up to below 1: how much of the past an average keeps at a step."""
    if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
        raise InputError(f"betas are two numbers from 0 up to below 1, not {betas!r}")
    return betas[0], betas[1]


def check_radius(radius: float) -> float:
    """`radius`, if it is above zero; infinity cuts nothing."""
    if not radius > 0:
        raise InputError(f"clip_radius must be above 0, not {radius!r}")
    return radius
