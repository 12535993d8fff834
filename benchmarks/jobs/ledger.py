"""What of an experiment is done, and who does what now: rows in results/, claims beside them."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from askwise.runs import journal
from jobs.experiment import Experiment, Key, Row, canonical, digest

_FIELDS = {field.name for field in fields(Row)}


@dataclass(frozen=True)
class Home:
    """Where results are kept for good, and where claims and half-done jobs are."""

    results: Path
    scratch: Path


class Ledger:
    """The rows and claims of one experiment; any number of processes may use it."""

    def __init__(self, experiment: Experiment, home: Home) -> None:
        self.experiment = experiment
        self.results = home.results
        self.path = home.results / (experiment.file or f"{experiment.name}.jsonl")
        self._scratch = home.scratch / experiment.name
        self._wanted = {_job(key, experiment.protocol(key)): key for key in experiment.jobs}
        if len(self._wanted) != len(experiment.jobs):
            raise ValueError(f"{experiment.name} declares the same job twice")

    def rows(self) -> list[Row]:
        """The rows that count, in the order of the jobs: one for each finished job, of its protocol."""
        known: dict[str, Row] = {}
        for found in journal.read(self.path):
            if found.keys() == _FIELDS:  # rows of an older form count as none
                row = Row(**found)
                known.setdefault(_job(row.key, row.protocol), row)
        return [known[job] for job in self._wanted if job in known]

    def left(self) -> list[Key]:
        """The jobs that are not done, in order."""
        done = {_job(row.key, row.protocol) for row in self.rows()}
        return [key for job, key in self._wanted.items() if job not in done]

    def append(self, row: Row) -> None:
        """Put a row at the end, on the disk when this returns."""
        with _locked(self._place("journal.lock"), wait=True):
            journal.append(self.path, row.written())

    def keep_current(self) -> int:
        """How many rows of other protocols were taken out of the file.

        A file of several experiments keeps the rows of jobs that are not this one's.
        """
        with _locked(self._place("journal.lock"), wait=True):
            before, rows = journal.read(self.path), [row.written() for row in self.rows()]
            if self.experiment.file:
                own = [dict(key) for key in self.experiment.jobs]
                rows += [row for row in before if row.get("key") not in own]
            new = self.path.with_suffix(".new")
            new.unlink(missing_ok=True)
            for row in rows:
                journal.append(new, row)
            if rows:
                new.replace(self.path)
        return len(before) - len(rows) if rows else 0

    @contextmanager
    def claim(self, key: Key, *, run: str) -> Iterator["Claim | None"]:
        """The right to do a job, held until the end or the death of this process; none if another has it.

        None as well where the job is done, or has failed in the same run of the queue.
        """
        place = self._place(f"{self._job(key)}.claim")
        with _locked(place, wait=False) as file:
            if file is None or os.pread(file, 64, 0).decode() == run or key not in self.left():
                yield None
                return
            claim = Claim(place, file, run)
            yield claim
            if claim.done:
                place.unlink(missing_ok=True)

    def scratch(self, key: Key, commit: str) -> Path:
        """The folder of a job: of this code, since a half-done job must not be finished by another."""
        if commit.endswith("-dirty"):  # may be other code than yesterday's
            self.clear(key)
        folder = self._place(f"{self._job(key)}-{commit[:12]}")
        folder.mkdir(exist_ok=True)
        return folder

    def clear(self, key: Key) -> None:
        """Take away what a job has left in its folders."""
        for folder in self._scratch.glob(f"{self._job(key)}-*"):
            shutil.rmtree(folder)

    def _job(self, key: Key) -> str:
        return digest(_job(key, self.experiment.protocol(key)))

    def _place(self, name: str) -> Path:
        self._scratch.mkdir(parents=True, exist_ok=True)
        return self._scratch / name


@dataclass
class Claim:
    """A job that this process may do."""

    place: Path
    file: int
    run: str
    done: bool = False

    def failed(self) -> None:
        """Keep the other processes of this run from trying it again; a later run does."""
        os.pwrite(self.file, self.run.encode(), 0)


def _job(key: Key, protocol: str) -> str:
    return canonical([key, protocol])


@contextmanager
def _locked(path: Path, *, wait: bool) -> Iterator[int | None]:
    """The file, locked for this process as long as it lives; none if another has it and we do not wait."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield None
            return
        yield file
    finally:
        os.close(file)
