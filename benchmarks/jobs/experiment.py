"""An experiment: the jobs it declares, how one of them is done, and the tables of all."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias

from askwise.train import Training

Key: TypeAlias = Mapping[str, str | int | float]
"""What tells one job of an experiment from the others, e.g. {"method": "bald", "seed": 3}."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One finished job as it stands in results/NAME.jsonl.

    `settings` is the protocol of the job, `protocol` its hash: a row of another protocol does not count.
    """

    key: dict[str, Any]
    protocol: str
    settings: dict[str, Any]
    values: dict[str, Any]
    command: str
    commit: str
    started: str
    seconds: float
    cpu_seconds: float
    conditions: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.key[name] if name in self.key else self.values[name]

    def written(self) -> dict[str, Any]:
        """The row as JSON holds it."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Jobs of a few minutes each, in the order in which they are done.

    `settings(key)` is all that decides a job's result beside its key: whoever changes it asks for new
    rows. `run(key, scratch)` does a job and returns plain values; `scratch` is a folder of this job
    alone, which outlives a kill and goes when the row is written. `tables(rows, folder)` writes
    NAME.md and pictures from the rows that are there. `ready()` refuses where data are missing.
    """

    name: str
    about: str
    jobs: Sequence[Key]
    settings: Callable[[Key], Mapping[str, Any]]
    run: Callable[[Key, Path], Mapping[str, Any]]
    tables: Callable[[Sequence[Row], Path], None]
    seconds: float  # what a job may take, until rows say it
    ready: Callable[[], object] = lambda: None

    def protocol(self, key: Key) -> str:
        """The hash of a job's settings."""
        return digest(self.settings(key))


def canonical(value: Any) -> str:
    """A value as JSON, always in the same order."""
    return json.dumps(value, sort_keys=True, allow_nan=False)


def digest(value: Any) -> str:
    """A short hash of a value that JSON can hold."""
    return blake2b(canonical(value).encode(), digest_size=6).hexdigest()


def plain(value: Any) -> Any:
    """A value of settings as JSON reads it back: tuples are lists, an infinite number is a word."""
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return str(value)
    return value


def options(config: Any) -> dict[str, Any]:
    """Every option of a posterior or a training that is on, the defaults too: a new default is a new protocol.

    Options that are off (None, False, 0) are left out, so that a new one that nobody uses changes nothing. A
    training says its epochs and its least steps, whether they were given or are the default.
    """
    told = {name: value for name, value in asdict(config).items() if value}
    if hasattr(config, "name"):
        told = {"name": config.name, **told}
    if isinstance(config, Training):
        course = config.course(1)
        told |= {"epochs": course.epochs, "min_steps": course.steps}
    return plain(told)
