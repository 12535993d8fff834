"""Folders of weights beside a store, named by their digest: complete, or not there at all."""

import shutil
from collections.abc import Callable, Collection
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from askwise.files import sync

_PREFIX, _OLD, _DRAFT = "model-", "round-", ".part-"
_DIGITS = 32  # of the digest


def write(folder: Path, save: Callable[[Path], object], on_write: Callable[[str], None]) -> str:
    """The name of the folder that `save` filled, on the disk before it gets that name.

    Nobody overwrites a checkpoint that is in use: the name says what is inside.
    """
    folder.mkdir(exist_ok=True)
    sync(folder.parent)
    draft = folder / f"{_DRAFT}{uuid4().hex}"
    on_write("before checkpoint")
    try:
        save(draft)
        on_write("within checkpoint")
        for path in [*draft.rglob("*"), draft]:
            sync(path)
        name = f"{_PREFIX}{digest(draft)[:_DIGITS]}"
        if (folder / name).is_dir() and digest(folder / name) != digest(draft):
            shutil.rmtree(folder / name)  # damaged on the disk: the draft is what it was
        if not (folder / name).exists():
            draft.rename(folder / name)
        sync(folder)
    finally:
        if draft.exists():
            shutil.rmtree(draft)
    on_write("after checkpoint")
    return name


def keep(folder: Path, names: Collection[str]) -> None:
    """Delete every checkpoint but the named ones, and what a killed process left half written."""
    for path in folder.iterdir():
        if path.name.startswith((_PREFIX, _OLD, _DRAFT)) and path.name not in names:
            shutil.rmtree(path)


def digest(folder: Path) -> str:
    """SHA-256 of the names and contents of all files in a folder."""
    total = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        total.update(f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()
