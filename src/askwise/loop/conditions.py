"""What bits depend on besides the facts: if any of it changes, a run goes on as a new segment."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import torch
from torch import nn

from askwise.bayes.program import BATCH
from askwise.errors import InputError
from askwise.loop.plan import Plan

COLD = ("k_center", "typiclust")
"""Selections that need features alone: before the first round, those of the network as given."""


def conditions(plan: Plan, network: nn.Module) -> dict[str, Any]:
    """The conditions of this process; given weights count only where something starts from them."""
    starts = plan.train != "scratch" or plan.select in COLD
    return {
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "score_threads": plan.engine_options.get("threads", 1),
        "cpu": cpu(),
        "device": plan.device,
        "inner_batch": BATCH,
        "network": _digest(network, weights=False),
        "weights": _digest(network, weights=True) if starts else None,
    }


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


def _digest(network: nn.Module, *, weights: bool) -> str:
    digest = sha256(repr(network).encode())
    for name, value in sorted(network.state_dict().items()):
        digest.update(f"{name}{tuple(value.shape)}{value.dtype}".encode())
        if weights:
            digest.update(value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]
