"""Items from a table: columns of numbers and categories, or a column of embeddings."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from askwise.errors import InputError
from askwise.pool import arrow
from askwise.pool.arrays import as_tensor
from askwise.pool.coding import Coding, fit_coding
from askwise.pool.ids import numbered, of_array, of_text
from askwise.pool.pool import Pool
from askwise.pool.source import Reading
from askwise.pool.tables import Row, header, places, records, rows, separator
from askwise.pool.text import own_ids


class RowSource:
    """One item for each row of numbers; those of bad rows are not looked at."""

    def __init__(
        self,
        ids: Sequence[str],
        numbers: np.ndarray,
        bad: dict[str, str],
        *,
        how: dict[str, Any],
        strange: Mapping[str, str] | None = None,
    ) -> None:
        self.ids, self.quarantined = ids, bad
        self._strange = strange or {}
        self._numbers, self._how = numbers, how
        self._place = {identity: place for place, identity in enumerate(ids)}

    def like(self) -> Tensor:
        """As many numbers as a row has."""
        return as_tensor(np.zeros(self._numbers.shape[1], np.float32))

    def read(self, ids: Sequence[str]) -> Reading:
        """These rows as one tensor."""
        return Reading(list(ids), as_tensor(self._numbers[[self._place[name] for name in ids]]), {})

    def unlike(self, identity: str) -> str | None:
        """Why a row is like none that was there when the columns were read first."""
        return self._strange.get(identity)

    def preparation(self) -> dict[str, Any]:
        """What becomes of the columns of a table, or the column of the embeddings."""
        return self._how

    def stamps(self, ids: Sequence[str]) -> Sequence[str]:
        """The contents of each row, and how they were made."""
        return [f"{of_array(self._numbers[self._place[name]])} {self._how['kind']}" for name in ids]


def table(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    categories: Sequence[str] = (),
    id_column: str | None = None,
    coding: Coding | None = None,
) -> Pool:
    r"""A pool of the rows of a CSV, TSV, JSONL or Parquet file: numbers standardised, categories one-hot.

    All columns count but those to `ignore`, unless `columns` are named. What becomes of them is
    `coding`, or fitted by `coding_of(path, ...)`; a pool that grows wants the first one again, of which
    columns to `ignore` are left out. Ids are those of `id_column`, or made from the cells, which a column
    ignored later does not change. Broken rows are quarantined with their line. Decimal commas are read where
    they are sure, and noted in the coding.

    >>> from pathlib import Path
    >>> _ = Path("cars.csv").write_text("id,colour,weight\na,red,1\nb,blue,3\n")
    >>> aw.pool.table("cars.csv", id_column="id").item("a").inputs
    tensor([ 0.,  1., -1.])
    """
    home = Path(path)
    apart = (*ignore, id_column)
    left_out = [] if coding is None else [name for name in coding.names if name in apart]
    wanted = _wanted(home, columns, ignore, id_column, coding)
    named = wanted if coding is None or id_column else _there(home, coding.names)
    found = list(rows(home, [*named, *([id_column] if id_column else [])], numbers=True))
    if not found:
        raise InputError(f"{path} has no rows")
    own = _fitted(home, found, wanted, categories) if coding is None else coding.without(left_out)
    ids = own_ids(found) if id_column else list(numbered(of_text("\0".join(row.cells)) for row in found))
    at = [named.index(name) for name in wanted]
    bare = [[row.cells[place] for place in at] for row in found]
    bad, numbers = {}, np.zeros((len(found), own.width), np.float32)
    strange = dict[str, str]()
    for place, (name, row) in enumerate(zip(ids, found, strict=True)):
        why = row.reason or own.fault(bare[place])
        if why:
            bad[name] = why if row.reason else f"line {row.line}: {why}"
        else:
            numbers[place] = own.row(bare[place])
            if (unlike := own.unlike(bare[place])) is not None:
                strange[name] = unlike
    how: dict[str, Any] = {
        "kind": "table",
        "coding": (coding or own).model_dump(mode="json"),
        "id_column": id_column,
    }
    how |= {"ignore": left_out} if left_out else {}
    return Pool(RowSource(ids, numbers, bad, how=how, strange=strange))


def coding_of(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    categories: Sequence[str] = (),
) -> Coding:
    r"""What the columns of a table become: to be shown, changed, and kept with a pool.

    >>> from pathlib import Path
    >>> _ = Path("cars.csv").write_text("colour,weight\nred,1\nblue,3\n")
    >>> coding = aw.pool.coding_of("cars.csv")
    >>> coding.width, [column.kind for column in coding.columns]
    (3, ['category', 'number'])
    """
    wanted = _wanted(Path(path), columns, ignore, None, None)
    return _fitted(Path(path), list(rows(Path(path), wanted, numbers=True)), wanted, categories)


def embeddings(path: str | Path, *, embedding: str = "embedding", id_column: str | None = None) -> Pool:
    r"""A pool of features made elsewhere: the column `embedding` of a JSONL or Parquet file holds lists.

    Rows of another length than the first, or without finite numbers, are quarantined. An array of
    embeddings in a .npy file is a pool by `aw.pool.arrays`.

    >>> from pathlib import Path
    >>> _ = Path("vectors.jsonl").write_text('{"id": "a", "embedding": [1, 2]}\n')
    >>> aw.pool.embeddings("vectors.jsonl", id_column="id").item("a").inputs
    tensor([1., 2.])
    """
    found = list(_lists(Path(path), [embedding, *([id_column] if id_column else [])]))
    good = [_vector(cells[0]) if why is None else why for _, cells, why in found]
    width = next((len(vector) for vector in good if not isinstance(vector, str)), 0)
    if not width:
        first = f"; the first: {good[0]}" if good else ""
        raise InputError(f"{path} has no list of numbers in {embedding!r}{first}")
    lines = [Row(line, (str(cells[-1]),), why) for line, cells, why in found]
    numbers = np.zeros((len(found), width), np.float32)
    faults: dict[int, str] = {}
    for place, vector in enumerate(good):
        if isinstance(vector, str):
            faults[place] = found[place][2] or f"line {found[place][0]}: {embedding!r} {vector}"
        elif len(vector) != width:
            faults[place] = f"line {found[place][0]}: {embedding!r} has {len(vector)} numbers, not {width}"
        else:
            numbers[place] = vector
    contents = (
        of_text(str(found[place][1])) if place in faults else of_array(row)
        for place, row in enumerate(numbers)
    )
    ids = own_ids(lines) if id_column else list(numbered(contents))
    how = {"kind": "embeddings", "embedding": embedding, "id_column": id_column}
    return Pool(RowSource(ids, numbers, {ids[place]: why for place, why in faults.items()}, how=how))


def _wanted(
    path: Path,
    columns: Sequence[str] | None,
    ignore: Sequence[str],
    id_column: str | None,
    coding: Coding | None,
) -> list[str]:
    names = header(path)
    if coding is not None:
        columns = [name for name in coding.names if name not in ignore]
        ignore = [name for name in ignore if name not in coding.names]  # those need not be there any more
    places(path, names, [*(columns or ()), *ignore, *([id_column] if id_column else [])])
    wanted = [name for name in (names if columns is None else columns) if name not in (*ignore, id_column)]
    if not wanted:
        raise InputError(f"{path} has no columns left to learn from; it has: {', '.join(names)}")
    return wanted


def _there(path: Path, columns: Sequence[str]) -> list[str]:
    """Those of the columns that the file has."""
    names = header(path)
    return [name for name in columns if name in names]


def _fitted(path: Path, found: Sequence[Row], wanted: Sequence[str], categories: Sequence[str]) -> Coding:
    unknown = next((name for name in categories if name not in wanted), None)
    if unknown is not None:
        raise InputError(f"categories names {unknown!r}, and the columns are: {', '.join(wanted)}")
    whole = [row.cells for row in found if row.reason is None]
    if not whole:
        raise InputError(f"no row can be used; the first: {found[0].reason if found else 'there is none'}")
    columns = {name: [cells[place] for cells in whole] for place, name in enumerate(wanted)}
    return fit_coding(columns, categories=categories, separator=separator(path))


def _lists(path: Path, columns: list[str]) -> Iterator[tuple[int, list[Any], str | None]]:
    """Line, cells and fault of every row of a file whose cells may be lists."""
    names = header(path)  # also says what kind of file is wanted
    places(path, names, columns)
    if path.suffix.lower() in (".csv", ".tsv"):
        raise InputError(f"{path} has no lists; give its columns of numbers to aw.pool.table")
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        for line, text, record in records(path):
            if isinstance(record, str):
                yield line, [text] * len(columns), record
            else:
                yield line, [record.get(column) for column in columns], None
        return
    for line, cells in enumerate(arrow.cells(path, columns), start=1):
        yield line, cells, None


def _vector(cell: Any) -> np.ndarray | str:
    if not isinstance(cell, list) or not cell:
        return "is missing" if cell is None else f"is a {type(cell).__name__}, not a list of numbers"
    if not all(isinstance(x, int | float) and not isinstance(x, bool) and abs(x) < 3e38 for x in cell):
        return "holds what is not a finite number"  # NaN is below nothing
    return np.array([float(x) for x in cell], np.float32)
