"""How large an image is after the convolutions and poolings of a network."""

from askwise.errors import InputError, positive


def after(size: int, *steps: tuple[str, int]) -> int:
    """The side of the image after steps such as `("conv", 4)` and `("pool", 2)`, without padding."""
    left = positive("size", size)
    for kind, kernel in steps:
        left = left - kernel + 1 if kind == "conv" else left // kernel
        if left < 1:
            needed = _smallest(steps)
            raise InputError(f"this network needs images of at least {needed} x {needed}, not size={size}")
    return left


def _smallest(steps: tuple[tuple[str, int], ...]) -> int:
    side = 1
    for kind, kernel in reversed(steps):
        side = side + kernel - 1 if kind == "conv" else side * kernel
    return side


_BORDERS = {32: 0, 28: 2}


def border(network: str, size: int) -> int:
    """How many pixels on each side make the image 32 x 32, for networks that are made for that."""
    if size not in _BORDERS:
        raise InputError(f"{network} takes images of 32 x 32 or 28 x 28, not size={size}")
    return _BORDERS[size]
