"""Scales the counts of a camera or microscope to values between 0 and 1, the same way for a whole pool."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from askwise.errors import InputError

_PERCENTILES = (0.5, 99.5)
_PIXELS = 2**16  # of one picture that are looked at, in each channel


@dataclass(frozen=True)
class Stretch:
    """For each channel the value that becomes 0, and the one that becomes 1; one pair may serve all."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        pairs = list(zip(self.low, self.high, strict=False))
        whole = len(self.low) == len(self.high) and bool(pairs)
        if not whole or not np.isfinite(pairs).all() or any(low >= high for low, high in pairs):
            found = f"{self.low} and {self.high}"
            raise InputError(f"a stretch has a low value and a higher one for each channel, not {found}")

    def __call__(self, pixels: np.ndarray) -> Float32[np.ndarray, "H W S"]:
        """Pixels [H, W, S] between 0 and 1; what lies outside is clipped."""
        if len(self.low) not in (1, pixels.shape[2]):
            raise ValueError(f"it has {pixels.shape[2]} channels, and the stretch {len(self.low)}")
        low, high = np.array(self.low), np.array(self.high)
        found: np.ndarray = ((pixels - low) / (high - low)).clip(0, 1).astype(np.float32)
        return found


def whole_range(kind: np.dtype) -> Stretch | None:
    """From the least to the greatest whole number of a type; None for fractions, which have no such range."""
    if kind.kind not in "iu":
        return None
    limits = np.iinfo(kind)
    return Stretch((float(limits.min),), (float(limits.max),))


def fit_stretch(pictures: Iterable[np.ndarray]) -> Stretch | None:
    """Between percentiles .5 and 99.5 of the pixels of all pictures [H, W, S], channel by channel.

    Pictures with other numbers of channels than the first are left out; None where there are none.
    """
    parts: list[np.ndarray] = []
    for picture in pictures:
        flat = picture.reshape(-1, picture.shape[2])
        some = flat[:: -(-len(flat) // _PIXELS)].astype(np.float64)
        if np.isfinite(some).all() and (not parts or parts[0].shape[1] == some.shape[1]):
            parts.append(some)
    if not parts:
        return None
    low, high = np.percentile(np.concatenate(parts), _PERCENTILES, axis=0)
    high = np.where(high > low, high, low + 1)  # a channel that is the same everywhere is black
    return Stretch(tuple(map(float, low)), tuple(map(float, high)))
