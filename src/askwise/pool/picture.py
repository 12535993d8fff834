"""An item as a picture for people: decoded within bounds, upright, and without what else its file says."""

import numpy as np
from PIL import Image

from askwise.errors import InputError
from askwise.pool.decode import Looks, decode, decode_heic, shown
from askwise.pool.folder import UnreadableError, opened
from askwise.pool.images import HEIC, ImageSource
from askwise.pool.pool import Pool
from askwise.pool.stretch import Stretch

_PIXELS = 50_000_000  # of a picture that is opened at all
_ENLARGED = 256  # pixels below which small pictures are drawn larger, with sharp edges


def has_pictures(pool: Pool) -> bool:
    """Whether people can look at the items: files of pictures, or arrays of the shape of one."""
    like = pool.like()
    return like.ndim == 3 and like.shape[0] in (1, 3)


def picture_of(pool: Pool, identity: str, *, side: int) -> Image.Image:
    """The picture of an item, at most `side` pixels wide and high."""
    [(source, _)] = pool.parts([identity])
    if isinstance(source, ImageSource):
        found = _file_picture(source, identity, side)
    else:
        found = _enlarged(_drawn(pool.item(identity).inputs.numpy()))
    found.thumbnail((side, side), Image.Resampling.LANCZOS)
    return found


def _file_picture(source: ImageSource, identity: str, side: int) -> Image.Image:
    looks = Looks(size=(side, side), channels=3, max_pixels=_PIXELS, stack=0, bands=None)
    try:
        with opened(*source.place(identity)) as file:
            heic = identity.lower().endswith(HEIC)
            raster = decode_heic(file, looks) if heic else decode(file, looks)
            if isinstance(raster, np.ndarray):
                return _deep(raster, looks, source.stretch)
            return _bare(raster)
    except UnreadableError as reason:
        raise InputError(f"this picture cannot be shown: {reason}") from reason
    except Exception as error:  # decoders raise whatever they do on hostile bytes
        raise InputError(f"this picture cannot be shown: {type(error).__name__}") from error


def _deep(raster: np.ndarray, looks: Looks, stretch: Stretch | None) -> Image.Image:
    high, wide = raster.shape[:2]
    scale = min(1.0, max(looks.size) / max(high, wide))
    size = (max(1, round(high * scale)), max(1, round(wide * scale)))
    pixels = shown(raster, Looks(size, 3, looks.max_pixels, looks.stack, looks.bands), stretch)
    return _drawn(pixels)


def _bare(picture: Image.Image) -> Image.Image:
    """The pixels alone, on white where the picture lets light through."""
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        whole = picture.convert("RGBA")
        white = Image.new("RGBA", whole.size, "white")
        return Image.alpha_composite(white, whole).convert("RGB")
    return picture.convert("RGB")


def _drawn(pixels: np.ndarray) -> Image.Image:
    """Pixels [C, H, W] between 0 and 1 as a picture."""
    whole = (np.nan_to_num(pixels).clip(0, 1) * 255).round().astype(np.uint8).transpose(1, 2, 0)
    return Image.fromarray(whole[:, :, 0] if whole.shape[2] == 1 else np.ascontiguousarray(whole))


def _enlarged(picture: Image.Image) -> Image.Image:
    """A picture of few pixels with each of them drawn larger, so that a person can see them."""
    times = max(1, _ENLARGED // max(picture.size))
    return picture.resize((picture.width * times, picture.height * times), Image.Resampling.NEAREST)
