"""Folders of weights beside a store: complete under their final name, or not there at all."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path


def write(folder: Path, name: str, save: Callable[[Path], object], on_write: Callable[[str], None]) -> Path:
    """The folder `folder/name` as `save` filled it, on the disk before it gets its name."""
    folder.mkdir(exist_ok=True)
    _sync(folder.parent)
    draft, final = folder / f"{name}.part", folder / name
    for left in (draft, final):  # of a run that was killed before it could refer to them
        if left.exists():
            shutil.rmtree(left)
    on_write("before checkpoint")
    save(draft)
    on_write("within checkpoint")
    for path in [*draft.rglob("*"), draft]:
        _sync(path)
    draft.rename(final)
    _sync(folder)
    on_write("after checkpoint")
    return final


def keep(folder: Path, names: set[str]) -> None:
    """Delete every checkpoint but the named ones."""
    for path in folder.iterdir():
        if path.name.startswith("round-") and path.name not in names:
            shutil.rmtree(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
