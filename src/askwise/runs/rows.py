"""Finished jobs as rows of a file: what was asked, under which settings, what came out, and where."""

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any

import torch

from askwise.train import Training


@dataclass(frozen=True, kw_only=True)
class Row:
    """One finished job as it stands in a journal.

    `key` tells it from the other jobs of the file, `settings` is its protocol, and `protocol` the hash
    of that: a row of another protocol does not count.
    """

    key: dict[str, Any]
    protocol: str
    settings: dict[str, Any]
    values: dict[str, Any]
    command: str
    commit: str | None
    started: str
    seconds: float
    cpu_seconds: float
    conditions: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.key[name] if name in self.key else self.values[name]

    def written(self) -> dict[str, Any]:
        """The row as JSON holds it."""
        return asdict(self)


def machine() -> dict[str, Any]:
    """What a job ran on: versions, threads, the processor, and how busy it was."""
    return {
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }


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


def options(config: Any, *, task: str = "classification") -> dict[str, Any]:
    """Every option of a posterior or training that is on, defaults too: a new default is a new protocol.

    Options that are off (None, False, 0) are left out, so that a new one that nobody uses changes
    nothing. A training says its epochs and its least steps, whether they were given or are the default
    of the task.
    """
    told = {name: value for name, value in asdict(config).items() if value}
    if hasattr(config, "name"):
        told = {"name": config.name, **told}
    if isinstance(config, Training):
        length = config.length(task)
        told |= {"epochs": length.epochs, "min_steps": replace(length, passes=None).course([1]).steps}
        told |= {} if length.passes is None else {"passes": length.passes}
    found: dict[str, Any] = plain(told)
    return found
