"""Items from an array in memory or a memory-mapped .npy file."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from askwise.errors import InputError
from askwise.pool.ids import given, numbered, of_array
from askwise.pool.pool import Pool
from askwise.pool.source import Reading


class ArraySource:
    """One item for each row."""

    quarantined: dict[str, str] = {}  # noqa: RUF012 - always empty: a row is only judged when it is read

    def __init__(
        self,
        rows: np.ndarray,
        *,
        scale: float | None,
        ids: Iterable[object] | None,
        path: Path | None = None,
    ) -> None:
        self._rows, self._path = rows, path and path.resolve()  # where it is whoever opens it
        self._scale = scale
        self.ids: Sequence[str] = (
            list(numbered(of_array(row) for row in rows)) if ids is None else given(ids, len(rows))
        )
        self._position = {identity: position for position, identity in enumerate(self.ids)}
        self._by_contents = ids is None
        self._contents: dict[str, str] = {}

    def __getstate__(self) -> dict[str, Any]:
        """All but the rows of a file, which another process or machine opens for itself."""
        if self._path is None:
            return vars(self)
        return {**vars(self), "_rows": _looks(self._rows)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        path: Path | None = state["_path"]
        if path is not None:
            rows = _load(path)
            if _looks(rows) != state["_rows"]:
                raise InputError(f"{path} is not the same file here as where the pool was made")
            state = {**state, "_rows": rows}
        vars(self).update(state)

    def like(self) -> Tensor:
        """What every row looks like."""
        return as_tensor(self._rows[:1], self._scale)[0]

    def read(self, ids: Sequence[str]) -> Reading:
        """These rows as one tensor."""
        rows = self._rows[[self._position[identity] for identity in ids]]  # copies these rows only
        return Reading(list(ids), as_tensor(rows, self._scale), {})

    def preparation(self) -> dict[str, Any]:
        """What the numbers are multiplied by."""
        return {"kind": "arrays", "scale": self._scale}

    def stamps(self, ids: Sequence[str]) -> Sequence[str]:
        """The contents of each row, where its id does not tell them, and the scale."""
        if self._by_contents:
            return [f"scale {self._scale}"] * len(ids)
        for identity in ids:
            if identity not in self._contents:
                row = of_array(self._rows[self._position[identity]])
                self._contents[identity] = f"{row} scale {self._scale}"
        return [self._contents[identity] for identity in ids]


def arrays(
    x: np.ndarray | Tensor | str | Path, *, scale: float | None = None, ids: Iterable[object] | None = None
) -> Pool:
    """A pool with one item for each row of an array, a tensor or a .npy file (which stays on the disk).

    Ids are made from the contents, so they survive re-ordering; equal rows get `~2`, `~3`, ... .
    `scale` multiplies what is read: 1/255 for bytes that are pixels.

    >>> pool = aw.pool.arrays(x, ids=range(60))
    >>> len(pool), pool.item("7").inputs.shape
    (60, torch.Size([4]))
    """
    path = Path(x) if isinstance(x, str | Path) else None
    rows = x if path is None else _load(path)
    rows = rows.detach().cpu().numpy() if isinstance(rows, Tensor) else np.asarray(rows)
    if rows.ndim == 0 or rows.dtype.kind not in "fiub":
        raise InputError(f"a pool wants an array of numbers with one row for each item, not {_kind(rows)}")
    if rows.dtype.kind == "u" and rows.dtype.itemsize == 1 and scale is None:
        raise InputError("bytes may be pixels or tokens; pass scale=1/255 for pixels, int64 for tokens")
    return Pool(ArraySource(rows, scale=scale, ids=ids, path=path))


def as_tensor(rows: np.ndarray, scale: float | None = None) -> Tensor:
    """Rows as networks take them: float32 for fractions and scaled numbers, int64 for whole ones."""
    whole = rows.dtype.kind in "iub" and scale is None
    # numpy first: torch has no unsigned types beyond bytes, and no big-endian ones
    tensor = torch.from_numpy(np.array(rows, dtype=np.int64 if whole else np.float32))
    return tensor if scale is None else tensor * scale


def _load(path: Path) -> np.ndarray:
    if not path.is_file():  # a pipe would wait for ever
        raise InputError(f"there is no file {path}")
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy raises whatever its parser does on a damaged header
        raise InputError(f"{path} cannot be read as a .npy array: {_line(error)}") from error
    if not isinstance(rows, np.ndarray):
        rows.close()
        raise InputError(f"{path} holds several arrays (.npz); save the one you want as .npy")
    return rows


def _looks(rows: np.ndarray) -> tuple[str, list[str]]:
    """What tells a file from another: shape, type, the first row and the last."""
    return _kind(rows), [of_array(row) for row in (*rows[:1], *rows[-1:])]


def _kind(rows: np.ndarray) -> str:
    return f"{rows.dtype} of shape {rows.shape}"


def _line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
