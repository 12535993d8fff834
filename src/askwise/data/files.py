"""Reading stored files: bounded, uncompressed on the way, and checked before anyone trusts them."""

import gzip
import zlib
from hashlib import file_digest, sha256
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


def published(folder: Path, name: str, *, digest: str, limit: int) -> tuple[Path, bytes]:
    """Where the file is and what it holds, if that is what was published."""
    path = find(folder, name) or folder / name
    content = read(path, limit=limit)
    verify(content, digest=digest, path=path)
    return path, content


def verify(content: bytes, *, digest: str, path: Path) -> None:
    """Refuse content with another SHA-256."""
    _refuse_other(sha256(content).hexdigest(), digest, path)


def verify_file(path: Path, *, digest: str) -> None:
    """Refuse a file with another SHA-256; it is never in memory as a whole."""
    if not path.is_file():
        raise CorruptError(f"{path} is missing")
    with path.open("rb") as stream:
        _refuse_other(file_digest(stream, "sha256").hexdigest(), digest, path)


def _refuse_other(found: str, digest: str, path: Path) -> None:
    if found != digest:
        raise CorruptError(f"{path} is not the published file: SHA-256 {found[:16]}..., not {digest[:16]}...")
