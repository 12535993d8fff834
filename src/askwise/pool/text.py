"""Items that are texts: a column of a table, a folder of files, or a list."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from textwrap import shorten
from typing import Any

from torch import Tensor

from askwise.errors import InputError
from askwise.pool.folder import UnreadableError, opened, walk
from askwise.pool.ids import numbered, of_array, of_path, of_text
from askwise.pool.pool import Pool
from askwise.pool.source import Reading
from askwise.pool.tables import LONGEST, Row, rows

Encode = Callable[[list[str]], Tensor]
"""A list of texts to one row each, of the same width whatever else is in the list."""

_PROBES = ["What does it say of this?", "É 1,234.5% — #tag 日本語 " * 400]
"""Texts that tell one way to encode from another: by its tokens, and by where it cuts."""
_WORDS = 60  # characters of a text's name


class TextSource:
    """One item for each text; the texts are kept, and encoded when they are read."""

    def __init__(
        self,
        texts: dict[str, str],
        bad: dict[str, str],
        *,
        encode: Encode | None,
        column: str | None = None,
        id_column: str | None = None,
    ) -> None:
        self.texts, self.quarantined = texts, bad
        self._encode, self._column, self._id_column = encode, column, id_column

    def preparation(self) -> dict[str, Any]:
        """The columns of texts and ids, where they are in a table; what encodes texts is said elsewhere."""
        return {"kind": "text", "column": self._column, "id_column": self._id_column}

    @property
    def ids(self) -> Sequence[str]:
        """Every id, those of bad items included."""
        return list(self.texts)

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

    def original(self, identity: str) -> str:
        """The text."""
        return self.texts[identity]

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
    """A pool of texts: a column of a CSV, TSV, JSONL or Parquet file, a folder of .txt files, or a list.

    A folder may also be a dataset that Hugging Face's library saved; there, too, `column` is read. Ids
    are those of `id_column`, the names of the files, or made from the text; equal texts get `~2`, `~3`,
    ... . Texts that are broken, empty or not UTF-8 are quarantined with their line or file.

    >>> tokens = aw.nets.tiny_encoder().tokens
    >>> pool = aw.pool.text(["a good film", "a bad one"], encode=lambda texts: tokens(texts, length=8))
    >>> pool.item(1).name, pool[:].shape
    ('a bad one', torch.Size([2, 8]))
    """
    if not isinstance(path, str | Path):
        table = [Row(line, (words,)) for line, words in enumerate(path, start=1)]
        return Pool(_source(table, None, encode))
    home = Path(path)
    if home.is_dir() and not any((home / name).is_file() for name in ("state.json", "dataset_dict.json")):
        return Pool(_folder(home.resolve(), encode))
    columns = [column] if id_column is None else [column, id_column]
    return Pool(_source(list(rows(home, columns)), id_column, encode, column=column))


def own_ids(table: Sequence[Row]) -> list[str]:
    """The ids in the last cell of every row; a broken row is named by its line."""
    lines: dict[str, int] = {}
    for row in table:
        name = row.cells[-1] if row.reason is None else f"line-{row.line}"
        if name in lines:
            raise InputError(f"ids must be unique, and {name!r} is on lines {lines[name]} and {row.line}")
        lines[name] = row.line
    return list(lines)


def _source(
    table: list[Row], id_column: str | None, encode: Encode | None, *, column: str | None = None
) -> TextSource:
    ids = numbered(of_text(row.cells[0]) for row in table) if id_column is None else own_ids(table)
    named = dict(zip(ids, table, strict=True))
    bad = {name: why for name, row in named.items() if (why := row.reason or _fault(row))}
    texts = {name: row.cells[0] for name, row in named.items()}
    return TextSource(texts, bad, encode=encode, column=column, id_column=id_column)


def _folder(folder: Path, encode: Encode | None) -> TextSource:
    texts: dict[str, str] = {}
    bad: dict[str, str] = {}
    for path in sorted(walk(folder, (".txt",)), key=os.fsencode):
        name = of_path(path)
        texts[name] = ""
        try:
            with opened(folder, path) as file:
                content = file.read(4 * LONGEST + 1)  # no letter has more than four bytes
            texts[name] = content.decode("utf-8-sig")
            why = fault(texts[name])
        except UnreadableError as reason:
            why = str(reason)
        except UnicodeDecodeError:
            utf_16 = content[:2] in (b"\xff\xfe", b"\xfe\xff")
            why = "it is in UTF-16; save it as UTF-8" if utf_16 else "it is not UTF-8"
        if why:
            bad[name] = why
    if not texts:
        raise InputError(f"folder {str(folder)!r} holds no texts; their names end in .txt")
    return TextSource(texts, bad, encode=encode)


def fault(words: str) -> str | None:
    """Why a text cannot be used, as a sentence about it."""
    if len(words) > LONGEST:
        return f"it has {len(words)} characters, more than {LONGEST}"
    if any("\ud800" <= letter <= "\udfff" for letter in words):
        return "it is not UTF-8"
    if "\0" in words:
        return "it holds a NUL byte"
    if not any(letter.isprintable() and not letter.isspace() for letter in words):
        return "it has no visible text"  # empty, blanks, or zero-width characters only
    return None


def _fault(row: Row) -> str | None:
    why = fault(row.cells[0])
    return why and f"line {row.line}{why.removeprefix('it')}"
