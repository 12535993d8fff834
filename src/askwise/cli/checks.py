"""Checks of the machine and of stores: each gives one finding and what to do."""

import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from askwise.errors import AskwiseError, CorruptError, InputError, command
from askwise.store import Place

_LOW, _TOO_LOW = 2 * 2**30, 100 * 2**20  # bytes free
_WAL_BYTE, _WAL_FORMAT = 18, 2  # of the header of a SQLite file
_REMOTE = ("nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p")  # where locks of files may not hold


@dataclass(frozen=True)
class Finding:
    """What was looked at, whether it is fine, and what to do if it is not."""

    what: str
    state: Literal["ok", "note", "broken"]
    said: str


def machine(folder: Path) -> Iterator[Finding]:
    """The system, the software, the disk, the extras and the data sets, a line each."""
    yield _system()
    yield _torch()
    yield _sqlite()
    yield _disk(folder)
    yield _mount(folder)
    yield _extras()
    yield _data()


def store(path: Place) -> Iterator[Finding]:
    """Whether a store has the facts that were written, how it journals, and whether its model is whole."""
    from askwise.bayes.fitted import load
    from askwise.report.past import past
    from askwise.store import open_store
    from askwise.store.lock import trainer
    from askwise.store.sql.care import check

    try:
        kept = open_store(path, access="read")
    except AskwiseError as error:
        yield Finding("store", "broken", str(error))
        return
    try:
        if isinstance(path, Path):
            yield _journal(path)
        problems = check(path)
        if problems:
            more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
            said = f"{problems[0]}{more}; save the rest: {command('store', 'recover', kept.name, 'NEW')}"
            yield Finding("facts", "broken", said)
            return
        yield Finding("facts", "ok", f"all facts up to revision {kept.revision} are the ones written")
        holder = trainer(path.resolve()) if isinstance(path, Path) else None
        if holder is not None:
            yield Finding("trainer", "ok", f"{holder} trains on it now")
        run = past(kept)
        said = f"{run.name}, seed {run.plan.seed}, {len(run.rounds)} rounds, {kept.count():,} items"
        yield Finding("store", "ok", said)
        if run.rounds and kept.folder is not None:
            folder = kept.folder / run.rounds[-1].checkpoint
            try:
                load(folder)
                yield Finding("model", "ok", f"{folder.name} is the one that was saved")
            except InputError as error:
                yield Finding("model", "note", f"not checked: {error}")
            except CorruptError as error:
                yield Finding("model", "broken", str(error))
    except AskwiseError as error:
        yield Finding("store", "broken", str(error))
    finally:
        kept.close()


def _journal(path: Path) -> Finding:
    with path.open("rb") as file:
        header = file.read(_WAL_BYTE + 1)
    if header[_WAL_BYTE:] == bytes([_WAL_FORMAT]):
        return Finding("journal", "note", f"{path} is in WAL mode; askwise sets it back when it next writes")
    return Finding("journal", "ok", f"{path} has a rollback journal: what was acknowledged is safe")


def _system() -> Finding:
    from askwise.engine.local import forks

    said = f"{platform.system()}, Python {platform.python_version()}"
    if platform.system() != "Linux":
        said = f"{said}; askwise is tested on Linux alone: it should work here, with one process; tell us"
        return Finding("system", "note", said)
    if not forks():
        return Finding(
            "system", "note", f"{said}; ASKWISE_FORK=0 asks for one process; unset it for all cores"
        )
    return Finding("system", "ok", said)


def _torch() -> Finding:
    import torch

    from askwise import __version__

    threads, cpu = torch.get_num_threads(), torch.backends.cpu.get_cpu_capability()
    said = f"askwise {__version__}, torch {torch.__version__}, {threads} threads, {cpu}"
    if cpu == "DEFAULT":
        return Finding("processor", "note", f"{said}; no vector instructions found: expect slow training")
    return Finding("processor", "ok", said)


def _sqlite() -> Finding:
    from askwise.store.sql.connecting import SQLITE, WAL_IS_SAFE

    found = SQLITE
    if not WAL_IS_SAFE:
        return Finding(
            "sqlite", "ok", f"SQLite {found}; do not set a store to WAL mode, which it can corrupt"
        )
    return Finding("sqlite", "ok", f"SQLite {found}")


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    said = f"{free / 2**30:.1f} GB free at {folder.absolute()}"
    if free < _TOO_LOW:
        return Finding("disk", "broken", f"{said}; free some before a run")
    if free < _LOW:
        return Finding("disk", "note", f"{said}; enough for small networks, checkpoints may need more")
    return Finding("disk", "ok", said)


def _mount(folder: Path) -> Finding:
    """Whether the folder lies on a disk of this machine."""
    kind, best = "", Path("/")
    try:
        lines = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return Finding("mount", "note", "this system does not say whether the folder is on a remote disk")
    for line in lines:
        _, point, found, *_ = line.split(" ")
        place = Path(point.replace("\\040", " "))
        if folder.absolute().is_relative_to(place) and len(place.parts) >= len(best.parts):
            kind, best = found, place
    if kind in _REMOTE:
        return Finding("mount", "note", f"{best} is a remote disk ({kind}): keep stores on a local one")
    return Finding("mount", "ok", f"{best} is a local disk ({kind or 'unknown'})")


def _extras() -> Finding:
    """Which extras are installed, and how to get the others."""
    wanted: dict[str, list[str]] = {}
    for line in metadata.requires("askwise") or []:
        package, _, marker = line.partition(";")
        if "extra ==" in marker:
            name = marker.split("extra ==")[1].strip(" '\"")
            wanted.setdefault(name, []).append(package.strip())
    here = [extra for extra, packages in wanted.items() if all(map(_installed, map(_bare, packages)))]
    rest = [extra for extra in wanted if extra not in here]
    more = f"; not installed: {', '.join(rest)} (pip install 'askwise[{rest[0]}]')" if rest else ""
    return Finding("extras", "ok", f"{', '.join(here) or 'none'}{more}")


def _data() -> Finding:
    from askwise.cli.data import place
    from askwise.data import NAMES

    here = [name for name in NAMES if place(name, None)]
    rest = f"; {len(NAMES) - len(here)} others: askwise data" if len(here) < len(NAMES) else ""
    return Finding("data sets", "ok", f"{', '.join(here)}{rest}")


def _bare(requirement: str) -> str:
    """The name of a package without its versions."""
    return next(
        (requirement[:at].strip() for at, letter in enumerate(requirement) if letter in "<>=!~[ "),
        requirement,
    )


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True
