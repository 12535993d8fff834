"""An item's pixels as the bytes of a small PNG picture."""

import io

from jaxtyping import Float
from torch import Tensor

from askwise.errors import InputError


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
