"""The environment that affects bitwise results; a change starts a new segment of the run."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from askwise.bayes.program.build import BATCH
from askwise.errors import InputError
from askwise.loop.plan import Plan
from askwise.math.digest import network_digest
from askwise.pool import Pool
from askwise.selection import SELECTIONS


def conditions(plan: Plan, network: nn.Module) -> dict[str, Any]:
    """The conditions of this process; given weights count only where something starts from them."""
    starts = plan.start != "scratch" or SELECTIONS[plan.select].cold_start
    return {
        "torch": torch.__version__,
        "score_threads": plan.engine_options.get("threads", 1),
        "cpu": cpu(),
        "device": plan.device,
        "inner_batch": BATCH,
        "network": network_digest(network, weights=False),
        "weights": network_digest(network, weights=True) if starts else None,
    }


def columns_condition(items: Pool) -> Mapping[str, Any]:
    """The columns of a table that were coded with its pool, and are ignored now; nothing where none is."""
    ignored = items.preparation().get("ignore")
    return {"ignored": ignored} if ignored else {}


def cpu() -> str:
    """What the processor can do, by which torch chooses its instructions."""
    return torch.backends.cpu.get_cpu_capability()


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The names of the conditions that differ."""
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def refuse(before: Mapping[str, Any], now: Mapping[str, Any], changed: list[str]) -> None:
    """Stop because the run was to continue exactly, and cannot."""
    listed = ", ".join(f"{name} (was {before.get(name)}, is {now.get(name)})" for name in changed)
    raise InputError(f"an exact continuation needs the same {listed}; restore it, or go on without exact")
