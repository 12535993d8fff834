"""Every posterior and every seed, one by one; what is in the journal is not done again."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from askwise.compare.material import material
from askwise.compare.protocol import Protocol
from askwise.compare.trial import Job, trial, warm_up
from askwise.errors import AskwiseError
from askwise.runs import journal
from askwise.runs.journal import conditions

Tell: TypeAlias = Callable[[Job, Literal["learning", "done", "kept", "refused"]], None]
"""Called with every job when it starts, and with how it ended."""


@dataclass(frozen=True)
class Trials:
    """A row for every job that came to its end, and why the posteriors of others refused."""

    rows: list[dict[str, Any]]
    refused: dict[str, str]


def jobs(posteriors: Sequence[str], seeds: Sequence[int]) -> list[Job]:
    """Every posterior with every seed, seed by seed: interrupted, all have been tried about as often."""
    return [Job(name, seed) for seed in seeds for name in posteriors]


def run(
    protocol: Protocol,
    wanted: Sequence[Job],
    *,
    kept: Path,
    data_dir: str | Path | None = None,
    tell: Tell = lambda *_: None,
) -> Trials:
    """The rows of all jobs: from the journal `kept`, or made now and appended to it."""
    known = {_key(row): row for row in journal.read(kept)}
    keys = {job: _key(_plan(protocol, job)) for job in wanted}
    refused: dict[str, str] = {}
    if keys.values() - known.keys():
        items = material(protocol, data_dir=data_dir, cache=kept.parent / "features")
        warm_up(protocol, items)
    for job, key in keys.items():
        if key in known:
            tell(job, "kept")
            continue
        tell(job, "learning")
        try:
            row = {**_plan(protocol, job), **trial(protocol, job, items), **conditions()}
        except AskwiseError as error:
            refused[job.posterior] = str(error)
            tell(job, "refused")
            continue
        journal.append(kept, row)
        known[key] = row
        tell(job, "done")
    return Trials([known[key] for key in keys.values() if key in known], refused)


def _plan(protocol: Protocol, job: Job) -> dict[str, Any]:
    """What makes a row the row of this job, as JSON would hold it."""
    options = {name: _plain(value) for name, value in protocol.posterior(job.posterior).options().items()}
    plan: dict[str, Any] = json.loads(
        json.dumps({**asdict(job), "options": options, "protocol": asdict(protocol)}, allow_nan=False)
    )
    return plan


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _key(row: Mapping[str, Any]) -> str:
    return json.dumps([row[part] for part in ("posterior", "seed", "options", "protocol")], sort_keys=True)
