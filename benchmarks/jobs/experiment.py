"""An experiment: the jobs it declares, how one of them is done, and the tables of all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from askwise.runs.rows import Row, canonical, digest, options, plain

__all__ = ["Experiment", "Key", "Row", "canonical", "digest", "options", "plain"]

Key: TypeAlias = Mapping[str, str | int | float]
"""What tells one job of an experiment from the others, e.g. {"method": "bald", "seed": 3}."""


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
    file: str = ""  # where in results/ the rows are; NAME.jsonl unless it says another

    def protocol(self, key: Key) -> str:
        """The hash of a job's settings."""
        return digest(self.settings(key))
