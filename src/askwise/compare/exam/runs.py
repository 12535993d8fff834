"""Every candidate on every head, one by one; what is in the journal is not done again."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from askwise.compare.exam.candidates import CANDIDATES
from askwise.compare.exam.gold import load
from askwise.compare.exam.heads import HEADS
from askwise.compare.exam.sitting import Protocol, sitting
from askwise.runs import journal
from askwise.runs.journal import conditions


@dataclass(frozen=True)
class Job:
    """One candidate, one head, one seed."""

    candidate: str
    head: str
    seed: int

    @property
    def title(self) -> str:
        """What a progress bar says."""
        return f"{self.candidate} on {self.head}"


Tell: TypeAlias = Callable[[Job, Literal["learning", "done", "kept"]], None]
"""Called with every job when it starts, and with how it ended."""


def jobs(posteriors: Sequence[str], seeds: Sequence[int]) -> list[Job]:
    """Every candidate of these posteriors on every head with every seed, seed by seed."""
    names = [name for name, candidate in CANDIDATES.items() if candidate.posterior in posteriors]
    return [Job(name, head, seed) for seed in seeds for head in HEADS for name in names]


def run(
    protocol: Protocol, wanted: Sequence[Job], *, kept: Path, tell: Tell = lambda *_: None
) -> list[dict[str, Any]]:
    """The rows of all jobs: from the journal `kept`, or made now and appended to it."""
    heads = {name: make() for name, make in HEADS.items()}
    golds = {name: load(head) for name, head in heads.items()}
    known = {_key(row): row for row in journal.read(kept)}
    rows = []
    for job in wanted:
        head = heads[job.head]
        plan: dict[str, Any] = json.loads(
            json.dumps(
                {
                    **asdict(job),
                    "options": CANDIDATES[job.candidate].config(head).options(),
                    "protocol": asdict(protocol),
                    "gold": golds[job.head].made["commit"],
                }
            )
        )
        if (key := _key(plan)) not in known:
            tell(job, "learning")
            found = sitting(protocol, head, golds[job.head], job.candidate, seed=job.seed)
            known[key] = {**plan, "grades": found, **conditions()}
            journal.append(kept, known[key])
            tell(job, "done")
        else:
            tell(job, "kept")
        rows.append(known[key])
    return rows


def _key(row: Mapping[str, Any]) -> str:
    parts = ("candidate", "head", "seed", "options", "protocol", "gold")
    return json.dumps([row[part] for part in parts], sort_keys=True)
