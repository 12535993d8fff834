"""Items from a column of text."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from textwrap import shorten

from torch import Tensor

from askwise.errors import InputError
from askwise.pool.ids import numbered, of_array, of_text
from askwise.pool.pool import Pool, Reading
from askwise.pool.tables import Row, rows

Encode = Callable[[list[str]], Tensor]
"""A list of texts to one row each, of the same width whatever else is in the list."""

_PROBES = ["What does it say of this?", "É 1,234.5% — #tag 日本語 " * 400]
"""Texts that tell one way to encode from another: by its tokens, and by where it cuts."""
_WORDS = 60  # characters of a text's name
_LONGEST = 1_000_000  # characters; more is a broken file rather than a text


class TextSource:
    """One item for each row; the texts are kept, and encoded when they are read."""

    def __init__(self, found: Iterable[Row], *, own_ids: bool, encode: Encode | None) -> None:
        table = list(found)
        self._encode = encode
        if own_ids:
            self.ids: Sequence[str] = _own(table)
        else:
            self.ids = list(numbered(of_text(row.cells[0]) for row in table))
        self.texts = {name: row.cells[0] for name, row in zip(self.ids, table, strict=True)}
        self.quarantined = {
            name: reason for name, row in zip(self.ids, table, strict=True) if (reason := _fault(row))
        }

    @cache  # noqa: B019 - a source lives as long as its pool
    def like(self) -> Tensor:
        """What the first good text is encoded to."""
        for identity in self.ids:
            if identity not in self.quarantined:
                return self._encoded([self.texts[identity]])[0]
        raise InputError(f"no text can be used; the first: {self.quarantined[self.ids[0]]}")

    def name(self, identity: str) -> str:
        """The first words of the text."""
        return shorten(self.texts[identity], _WORDS, placeholder=" ...")

    def read(self, ids: Sequence[str]) -> Reading:
        """The texts as one tensor."""
        if not ids:
            return Reading([], self.like().new_empty((0, *self.like().shape)), {})
        inputs = self._encoded([self.texts[identity] for identity in ids])
        if inputs.shape[1:] != self.like().shape:
            raise InputError(
                f"encode gave rows of shape {tuple(inputs.shape[1:])} and of {tuple(self.like().shape)}; "
                "pad every text to one length"
            )
        return Reading(list(ids), inputs, {})

    def stamps(self, ids: Sequence[str]) -> Sequence[str | None]:
        """Each text, and what `encode` makes of some others: it may have changed, and the text not."""
        way = self._way()
        return [None if way is None else f"{of_text(self.texts[identity])} {way}" for identity in ids]

    @cache  # noqa: B019 - a source lives as long as its pool
    def _way(self) -> str | None:
        try:
            return of_array(self._encoded(_PROBES).cpu().numpy())
        except Exception:  # a user's code may take no text but its own
            return None

    def _encoded(self, texts: list[str]) -> Tensor:
        if self._encode is None:
            raise InputError(
                "a network takes numbers: pass encode=, a function from a list of texts to a tensor"
            )
        rows_ = self._encode(texts)
        if not isinstance(rows_, Tensor) or rows_.ndim == 0 or len(rows_) != len(texts):
            found = tuple(rows_.shape) if isinstance(rows_, Tensor) else type(rows_).__name__
            raise InputError(f"encode must give one row for each of {len(texts)} texts, and gave {found}")
        return rows_.detach().float() if rows_.is_floating_point() else rows_.detach()


def text(
    path: str | Path | Sequence[str],
    *,
    column: str = "text",
    id_column: str | None = None,
    encode: Encode | None = None,
) -> Pool:
    """A pool of the texts in a column of a CSV, JSONL or Parquet file, or in a list.

    Ids are those of `id_column`, or made from the text; equal texts get `~2`, `~3`, ... . Rows
    that are broken, empty or not UTF-8 are quarantined with their line.
    """
    if isinstance(path, str | Path):
        columns = [column] if id_column is None else [column, id_column]
        found: Iterable[Row] = rows(Path(path), columns)
    else:
        found = [Row(line, (words,)) for line, words in enumerate(path, start=1)]
    return Pool(TextSource(found, own_ids=id_column is not None, encode=encode))


def _own(table: list[Row]) -> list[str]:
    lines: dict[str, int] = {}
    for row in table:
        name = row.cells[1] if row.reason is None else f"line-{row.line}"
        if name in lines:
            raise InputError(f"ids must be unique, and {name!r} is on lines {lines[name]} and {row.line}")
        lines[name] = row.line
    return list(lines)


def _fault(row: Row) -> str | None:
    words = row.cells[0]
    if row.reason:
        return row.reason
    if any("\udc80" <= letter <= "\udcff" for letter in words):
        return f"line {row.line} is not UTF-8"
    if "\0" in words:
        return f"line {row.line} holds a NUL byte"
    if len(words) > _LONGEST:
        return f"line {row.line} has {len(words)} characters, more than {_LONGEST}"
    if not any(letter.isprintable() and not letter.isspace() for letter in words):
        return f"line {row.line} has no visible text"  # empty, blanks, or zero-width characters only
    return None
