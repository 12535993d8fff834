"""How the digits runs are made: settled on held-out training digits (benchmarks/digits_protocol.py)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from askwise.acquire import ACQUISITIONS
from askwise.errors import choose
from askwise.loop.plan import Plan, make
from askwise.runs.material import material
from askwise.runs.one import Run


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to choose what to ask: a score, and a selection by it."""

    acquire: str
    select: str = "top_k"
    select_options: Mapping[str, Any] = field(default_factory=dict)


METHODS: Mapping[str, Method] = {
    "random": Method(acquire="random"),
    "bald": Method(acquire="bald"),
    "variation_ratios": Method(acquire="variation_ratios"),
    "power-bald": Method(acquire="bald", select="power"),
    "batchbald": Method(acquire="bald", select="batchbald"),
}


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Everything but the method and the seed."""

    data: str = "digits"
    network: str = "digits_cnn"
    classes: tuple[str, ...] = tuple("0123456789")
    posterior: Mapping[str, Any] = field(default_factory=lambda: {"name": "bbb", "last": 1})
    training: Mapping[str, Any] = field(default_factory=lambda: {"epochs": 50, "min_steps": 250})
    initial: int | Mapping[str, int] = 20
    batch: int = 10
    budget: int = 200
    draws: int = 50
    calibrate: bool = False  # as in the papers

    def plan(self, name: str, seed: int) -> Plan:
        """The plan of one run."""
        return make({**asdict(self), **asdict(method(name)), "seed": seed, "device": "cpu"})


@dataclass(frozen=True)
class Job:
    """One run: the name of its method, its seed, and where it is kept."""

    method: str
    seed: int
    store: Path

    @property
    def name(self) -> str:
        """What its progress bar is called."""
        return f"{self.method}, seed {self.seed}"


def runs(protocol: Protocol, jobs: Sequence[Job]) -> list[Run]:
    """The run of each job; they share the data."""
    plans = [protocol.plan(job.method, job.seed) for job in jobs]
    known = material(plans[0])
    return [Run(plan, known, job.store, name=job.name) for plan, job in zip(plans, jobs, strict=True)]


PROTOCOL = Protocol()

DEFAULT = "batchbald"
"""The method that the demo shows: the best on held-out training digits (results/digits_protocol.md)."""


def method(name: str) -> Method:
    """The method of that name; any acquisition is one, taking the highest scores."""
    known = choose("acquisition", name, [*METHODS, *(a for a in ACQUISITIONS if a not in METHODS)])
    return METHODS.get(known) or Method(acquire=known)
