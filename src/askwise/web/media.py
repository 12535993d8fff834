"""Items as a person sees them: pictures encoded anew, whole texts, rows with the names of their columns."""

import io
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Semaphore

from askwise.errors import InputError
from askwise.loop.plan import Plan
from askwise.pool.picture import has_pictures, picture_of
from askwise.pool.pool import Pool
from askwise.pool.tables import header, rows
from askwise.pool.text import TextSource
from askwise.web.models import Kind

SMALLEST, LARGEST = 32, 2048
"""Pixels that the longer side of a picture may have."""
_AT_A_TIME = 2  # pictures decoded, so that their memory is bounded
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
        return "image" if has_pictures(self._pool) else "row"

    def picture(self, identity: str, *, largest: int) -> bytes:
        """A WebP picture of at most so many pixels a side, made from the pixels alone."""
        if self.kind != "image":
            raise InputError("this item is no picture")
        side = min(max(largest, SMALLEST), LARGEST)
        with self._decoding:
            found = picture_of(self._pool, identity, side=side)
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
        """Names and values of an item's columns, as the file has them; numbers of what it does not hold."""
        names, cells = self._cells
        row = self._pool.row(identity)
        values = cells[row] if cells is not None and row < len(cells) else ()
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
