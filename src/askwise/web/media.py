"""Items as a person sees them: pictures encoded anew, whole texts, rows with the names of their columns."""

import io
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Semaphore

import numpy as np
from PIL import Image

from askwise.errors import InputError
from askwise.loop.plan import Plan
from askwise.pool.decode import Looks, decode, decode_heic, shown
from askwise.pool.folder import UnreadableError, opened
from askwise.pool.images import HEIC, ImageSource
from askwise.pool.pool import Pool
from askwise.pool.stretch import Stretch
from askwise.pool.tables import header, rows
from askwise.pool.text import TextSource
from askwise.web.models import Kind

SMALLEST, LARGEST = 32, 2048
"""Pixels that the longer side of a picture may have."""
_PIXELS = 50_000_000  # of a picture that is opened at all
_AT_A_TIME = 2  # pictures decoded, so that their memory is bounded
_ENLARGED = 256  # pixels below which small pictures are drawn larger, with sharp edges
_COLUMNS, _CELL = 200, 2000


class Media:
    """Every item of a pool, by its id."""

    def __init__(self, pool: Pool, plan: Plan) -> None:
        self._pool, self._plan = pool, plan
        self._decoding = Semaphore(_AT_A_TIME)

    @cached_property
    def kind(self) -> Kind:
        """What the items are to a person."""
        [(source, _)] = self._pool.parts([next(iter(self._pool.ids))])
        if isinstance(source, TextSource):
            return "text"
        like = self._pool.like()
        return "image" if like.ndim == 3 and like.shape[0] in (1, 3) else "row"

    def picture(self, identity: str, *, largest: int) -> bytes:
        """A WebP picture of at most so many pixels a side, made from the pixels alone."""
        if self.kind != "image":
            raise InputError("this item is no picture")
        [(source, _)] = self._pool.parts([identity])
        side = min(max(largest, SMALLEST), LARGEST)
        with self._decoding:
            if isinstance(source, ImageSource):
                found = _file_picture(source, identity, side)
            else:
                found = _enlarged(_drawn(self._pool.item(identity).inputs.numpy()))
            found.thumbnail((side, side), Image.Resampling.LANCZOS)
            stream = io.BytesIO()
            found.save(stream, "WEBP", quality=90, method=2)
        return stream.getvalue()

    def text(self, identity: str) -> str:
        """The whole text of an item."""
        [(source, _)] = self._pool.parts([identity])
        if not isinstance(source, TextSource):
            raise InputError("this item is no text")
        return source.texts[identity]

    def row(self, identity: str) -> list[tuple[str, str]]:
        """Names and values of an item's columns, as they are in the file."""
        names, cells = self._cells
        values = cells[self._pool.row(identity)] if cells is not None else ()
        if not values:
            numbers = self._pool.item(identity).inputs.flatten()[:_COLUMNS].tolist()
            return [(str(place), f"{number:.6g}") for place, number in enumerate(numbers)]
        return [(name, cell[:_CELL]) for name, cell in zip(names, values, strict=False)][:_COLUMNS]

    @cached_property
    def _cells(self) -> tuple[Sequence[str], list[tuple[str, ...]] | None]:
        """The cells of a table as they were written; none where the items are no table."""
        path = Path(self._plan.data or "")
        if path.suffix.lower() not in (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet"):
            return (), None
        own = self._plan.data_options
        names = [name for name in own.get("columns") or header(path) if name != own.get("embedding")]
        return names, [tuple(map(str, row.cells)) for row in rows(path, names)]


def _file_picture(source: ImageSource, identity: str, side: int) -> Image.Image:
    """The picture in a file, decoded within bounds, upright, without what else the file says."""
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
