"""Finished measurements, appended as they come, so that an interrupted run goes on."""

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import torch

from speed.process import PEERS

_PACKAGES = (
    "baal",
    "bayesian-torch",
    "blitz-bayesian-pytorch",
    "batchbald_redux",
    "scikit-activeml",
    "torch",
)


def append(path: Path, entry: dict[str, Any]) -> None:
    """Write a finished measurement down."""
    with path.open("a") as file:
        file.write(json.dumps(entry) + "\n")


def finished(path: Path, like: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The last record of every measurement made under these conditions, by name."""
    if not path.exists():
        return {}
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    return {e["name"]: e for e in entries if all(e.get(key) == value for key, value in like.items())}


def cpu() -> str:
    """The processor's name and what torch makes of it."""
    info = Path("/proc/cpuinfo")
    names = (
        [line for line in info.read_text().splitlines() if line.startswith("model name")]
        if info.exists()
        else []
    )
    name = names[0].split(":", 1)[1].strip() if names else platform.processor()
    return f"{name}, {os.cpu_count()} cores, {torch.backends.cpu.get_cpu_capability()}"


def versions() -> dict[str, str]:
    """Of Python, torch and the peers."""
    out = {"python": platform.python_version(), "torch": torch.__version__}
    if PEERS.exists():
        script = f"import importlib.metadata as m, json; print(json.dumps({{p: m.version(p) for p in {_PACKAGES}}}))"
        told = subprocess.run([str(PEERS), "-c", script], capture_output=True, text=True)
        out |= {
            f"{name} (peers)" if name == "torch" else name: v
            for name, v in json.loads(told.stdout or "{}").items()
        }
    return out
