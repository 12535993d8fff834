"""An item's pixels as the bytes of a small PNG picture."""

import io

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F

from askwise.errors import InputError

# Colours of classes that lie far apart, told apart in grey too as far as that goes; then they repeat.
_PALETTE = (
    (70, 130, 180), (200, 80, 60), (220, 200, 90), (120, 90, 140), (240, 150, 190), (90, 150, 70),
    (250, 250, 120), (150, 100, 60), (40, 60, 140), (230, 110, 30), (100, 220, 220), (160, 160, 160),
)  # fmt: skip


def colour(number: int) -> str:
    """The colour of a class in a mask, as pages write it."""
    return "#{:02x}{:02x}{:02x}".format(*_PALETTE[number % len(_PALETTE)])


def painted(mask: Int64[Tensor, "H W"], classes: int) -> bytes:
    """A mask in colours; what is no class is black."""
    return png(_colours(mask, classes))


def overlaid(pixels: Float[Tensor, "C H W"], mask: Int64[Tensor, "h w"], classes: int) -> bytes:
    """A mask over its picture, half and half."""
    colours = F.interpolate(_colours(mask, classes)[None], size=pixels.shape[1:], mode="nearest")[0]
    return png(0.5 * pixels.detach().cpu().clamp(0, 1).expand(3, -1, -1) + 0.5 * colours)


def heat(values: Float[Tensor, "H W"]) -> bytes:
    """A map from dark, the lowest, to bright, the highest."""
    own = values.detach().cpu()
    return png(((own - own.min()) / (own.max() - own.min()).clamp(min=1e-12))[None])


def _colours(mask: Int64[Tensor, "H W"], classes: int) -> Float[Tensor, "3 H W"]:
    known = torch.tensor(_PALETTE)[torch.arange(classes) % len(_PALETTE)] / 255
    whole = torch.cat([known, torch.zeros(1, 3)])
    places = mask.cpu().clamp(0, classes)
    return whole[places].permute(2, 0, 1)


def png(pixels: Float[Tensor, "C H W"], *, largest: int = 96) -> bytes:
    """A PNG of pixels in 0..1 with one or three channels, shrunk to `largest` pixels a side."""
    from PIL import Image

    if pixels.shape[0] not in (1, 3):
        raise InputError(f"a picture has 1 or 3 channels, not {pixels.shape[0]}")
    whole = pixels.detach().cpu().nan_to_num().clamp(0, 1).mul(255).round().byte()
    array = whole.permute(1, 2, 0).numpy()
    picture = Image.fromarray(array[:, :, 0] if pixels.shape[0] == 1 else array)
    picture.thumbnail((largest, largest))  # never enlarges
    stream = io.BytesIO()
    picture.save(stream, "PNG", optimize=True)
    return stream.getvalue()
