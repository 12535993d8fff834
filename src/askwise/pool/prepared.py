"""Other items, read as those of a pool were: by what a saved model says of its preparation."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from askwise.errors import InputError, choose
from askwise.pool.arrays import arrays
from askwise.pool.coding import Coding
from askwise.pool.images import images
from askwise.pool.pool import Pool
from askwise.pool.stretch import Stretch
from askwise.pool.table import embeddings, table
from askwise.pool.tables import header
from askwise.pool.text import Encode, text


def prepared(path: str | Path, how: Mapping[str, Any], *, encode: Encode | None = None) -> Pool:
    r"""The items of a folder or file, read by `how`, which is what `Pool.preparation` said.

    Texts want `encode`, as their pool had it. Ids are read from the same column, where there is one.

    >>> from pathlib import Path
    >>> _ = Path("old.csv").write_text("weight\n1\n3\n"), Path("new.csv").write_text("weight\n2\n")
    >>> pool = aw.pool.table("old.csv")
    >>> aw.pool.prepared("new.csv", pool.preparation())[:].tolist()  # standardised as the old ones are
    [[0.0]]
    """
    if not Path(path).exists():
        raise InputError(f"there is no file or folder {str(path)!r}")
    options = dict(how)
    kind = choose("kind of items", str(options.pop("kind", "")), _READERS)
    return _READERS[kind](Path(path), encode, **options)


def _images(path: Path, _: Encode | None, *, stretch: Any, bands: Any, size: Any, **options: Any) -> Pool:
    return images(
        path,
        size=tuple(size),
        stretch=None if stretch is None else Stretch(*map(tuple, stretch)),
        bands=None if bands is None else tuple(bands),
        **options,
    )


def _text(path: Path, encode: Encode | None, *, column: str | None, id_column: str | None = None) -> Pool:
    if column is not None:
        return text(path, column=column, id_column=_there(path, id_column), encode=encode)
    if path.is_dir():
        return text(path, encode=encode)
    if path.suffix.lower() == ".txt":
        return text([path.read_text("utf-8-sig", errors="replace")], encode=encode)
    return text(path, encode=encode)


def _table(
    path: Path, _: Encode | None, *, coding: Any, id_column: str | None, ignore: Sequence[str] = ()
) -> Pool:
    known = Coding.model_validate(coding)
    return table(path, coding=known, id_column=_there(path, id_column), ignore=ignore)


def _embeddings(path: Path, _: Encode | None, *, embedding: str, id_column: str | None) -> Pool:
    return embeddings(path, embedding=embedding, id_column=_there(path, id_column))


def _arrays(path: Path, _: Encode | None, *, scale: float | None) -> Pool:
    return arrays(path, scale=scale)


def _there(path: Path, column: str | None) -> str | None:
    """The column of the ids, where new items have it, too."""
    return column if column is not None and column in header(path) else None


_READERS: dict[str, Callable[..., Pool]] = {
    "images": _images,
    "text": _text,
    "table": _table,
    "embeddings": _embeddings,
    "arrays": _arrays,
}
