"""Files out of archives: only those that are wanted, only into memory, and none that is too large."""

import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from askwise.data import commands
from askwise.errors import CorruptError


def names(archive: Path) -> list[str]:
    """The names of all files in a zip."""
    with _readable(archive), zipfile.ZipFile(archive) as packed:
        return [info.filename for info in packed.infolist() if not info.is_dir()]


def members(archive: Path, wanted: Collection[str], *, limit: int) -> dict[str, bytes]:
    """The content of the wanted members; none may be larger than `limit` bytes.

    Only these are read, into memory: nothing is unpacked to a path that the archive chooses.
    """
    with _readable(archive):
        if archive.suffix in (".whl", ".zip"):
            found = _from_zip(archive, wanted, limit)
        elif archive.suffix == ".deb":
            tar = archive.with_suffix(".tar")
            commands.run(["dpkg-deb", "--fsys-tarfile", archive.name], folder=archive.parent, output=tar)
            found = _from_tar(tar, wanted, limit)
        else:
            found = _from_tar(archive, wanted, limit)
    missing = [name for name in wanted if name not in found]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise CorruptError(f"{archive.name} has no {', '.join(missing[:3])}{more}")
    return found


@contextmanager
def _readable(archive: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as reason:
        raise CorruptError(f"{archive.name} is not a whole archive: {reason}") from reason


def _from_tar(archive: Path, wanted: Collection[str], limit: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            name = member.name.removeprefix("./")
            if name in wanted and member.isfile():
                _bounded(archive, name, member.size, limit)
                stream = tar.extractfile(member)
                found[name] = stream.read(limit) if stream else b""
    return found


def _from_zip(archive: Path, wanted: Collection[str], limit: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            if info.filename in wanted:
                _bounded(archive, info.filename, info.file_size, limit)
                with packed.open(info) as stream:
                    found[info.filename] = stream.read(limit)
    return found


def _bounded(archive: Path, name: str, size: int, limit: int) -> None:
    if size > limit:
        raise CorruptError(f"{name} in {archive.name} has {size} bytes, more than the {limit} allowed")
