"""The runs of a paper, done one after the other and kept in results/PAPER/runs.jsonl."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from askwise.errors import CorruptError
from askwise.papers.record import Entry, Paper, Place, Results
from askwise.runs import journal
from askwise.runs.rows import Row, digest, machine, plain

_FIELDS = {one.name for one in fields(Row)}


@dataclass(frozen=True)
class Job:
    """One entry and one seed."""

    entry: Entry
    seed: int
    quick: bool

    @property
    def key(self) -> dict[str, Any]:
        """What tells it from the other runs of the paper."""
        return {"entry": self.entry.name, "seed": self.seed, "quick": self.quick}

    @property
    def title(self) -> str:
        """What a progress bar says."""
        return f"{self.entry.name}, seed {self.seed}"


def runs_file(out: Path, paper: Paper) -> Path:
    """Where the runs of a paper are kept."""
    return out / paper.name / "runs.jsonl"


def rows(path: Path) -> list[Row]:
    """Every finished run in the file; a last line that was cut off by a crash is none."""
    found = []
    for number, line in enumerate(journal.read(path), start=1):
        if not isinstance(line, dict) or line.keys() != _FIELDS:
            raise CorruptError(f"row {number} of {path} is not that of a run; take it out, or restore it")
        found.append(Row(**line))
    return found


def results(entries: Sequence[Entry], done: Sequence[Row], *, quick: bool) -> Results:
    """The runs of these entries by name and seed; runs of another protocol do not count."""
    known = {entry.name: entry.protocol for entry in entries}
    found: dict[str, dict[int, Row]] = {entry.name: {} for entry in entries}
    for row in done:
        name = row.key.get("entry")
        if name in known and row.protocol == known[name] and row.key.get("quick") == quick:
            found[name].setdefault(row.key["seed"], row)
    return {name: dict(sorted(by_seed.items())) for name, by_seed in found.items()}


def missing(entries: Sequence[Entry], seeds: Sequence[int], found: Results, *, quick: bool) -> list[Job]:
    """The jobs that are not done, seed by seed: interrupted, all have been tried about as often."""
    return [Job(one, seed, quick) for seed in seeds for one in entries if seed not in found[one.name]]


def hours(jobs: Sequence[Job], found: Results) -> float:
    """What the jobs may take on one core: by the finished runs of each entry, or by its guess."""
    seconds = 0.0
    for job in jobs:
        known = [row.cpu_seconds for row in found[job.entry.name].values()]
        seconds += fmean(known) if known else job.entry.seconds
    return seconds / 3600


def do(
    paper: Paper,
    jobs: Sequence[Job],
    *,
    out: Path,
    data_dir: Path | None,
    command: str,
    tell: Callable[[Job, str], None] = lambda *_: None,
) -> None:
    """Do every job that nobody has done meanwhile; each is appended when it is finished."""
    for job in jobs:
        if _done(job, rows(runs_file(out, paper))):
            tell(job, "kept")
            continue
        tell(job, "learning")
        with _scratch(out, paper, job) as folder:
            started, wall, cpu = datetime.now(UTC), time.perf_counter(), time.process_time()
            values = job.entry.run(job.entry.settings, job.seed, Place(folder, data_dir))
            row = Row(
                key=job.key,
                protocol=job.entry.protocol,
                settings=plain(job.entry.settings),
                values=plain(values),
                command=command,
                commit=journal.commit(),
                started=started.isoformat(timespec="seconds"),
                seconds=round(time.perf_counter() - wall, 3),
                cpu_seconds=round(time.process_time() - cpu, 3),
                conditions=machine(),
            )
            journal.append(runs_file(out, paper), row.written())
        tell(job, "done")


def _done(job: Job, finished: Sequence[Row]) -> bool:
    return any(row.key == job.key and row.protocol == job.entry.protocol for row in finished)


@contextmanager
def _scratch(out: Path, paper: Paper, job: Job) -> Iterator[Path]:
    """A folder of this job alone, which goes when the job is done and stays where it is killed."""
    folder = out / paper.name / ".runs" / digest([job.key, job.entry.protocol, journal.commit()])
    folder.mkdir(parents=True, exist_ok=True)
    yield folder
    shutil.rmtree(folder)


def commits(found: Results) -> list[str]:
    """The commits of the runs, each once."""
    return sorted({str(row.commit) for by_seed in found.values() for row in by_seed.values()})


def spent(found: Results) -> Mapping[str, float]:
    """CPU hours of the runs, in all and of the longest."""
    each = [row.cpu_seconds / 3600 for by_seed in found.values() for row in by_seed.values()]
    return {"all": sum(each), "longest": max(each, default=0.0)}
