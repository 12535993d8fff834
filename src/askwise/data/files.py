"""Reading stored files: bounded, uncompressed on the way, and checked before anyone trusts them."""

import gzip
import zlib
from hashlib import sha256
from pathlib import Path

from askwise.errors import CorruptError


def find(folder: Path, name: str) -> Path | None:
    """The file of that name, plain or with `.gz`, or None."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    return None


def read(path: Path, *, limit: int) -> bytes:
    """The content, uncompressed; at most one byte more than `limit` is ever read."""
    if path.suffix != ".gz":
        with path.open("rb") as plain:
            return plain.read(limit + 1)
    try:
        with gzip.open(path) as packed:
            return packed.read(limit + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as reason:
        raise CorruptError(f"{path} is not a whole gzip file: {reason}") from reason


def verify(content: bytes, *, digest: str, path: Path) -> None:
    """Nothing, if the content has this SHA-256."""
    found = sha256(content).hexdigest()
    if found != digest:
        raise CorruptError(f"{path} is not the published file: SHA-256 {found[:16]}..., not {digest[:16]}...")
