"""How long the command line and the import take."""

import subprocess
import sys
import time
from pathlib import Path

from speed.bench import Bench
from speed.finding import Finding
from speed.line import Line, of_spread
from speed.spread import Spread, spread

_TIMES = 5
_FIRST = """
import torch, askwise as aw
x, y = torch.rand(100, 1, 28, 28), torch.arange(100) % 10
fitted = aw.fit(aw.nets.gal_cnn(), (x[:10], y[:10]), posterior="mc_dropout", training=aw.Training(epochs=1, min_steps=1))
aw.score_pool(fitted, x, "bald", draws=100)
"""

_PLAIN = """
import torch
from torch import nn
x, y = torch.rand(100, 1, 28, 28), torch.arange(100) % 10
network = nn.Sequential(nn.Flatten(), nn.Linear(784, 32), nn.ReLU(), nn.Dropout(), nn.Linear(32, 10))
optimizer = torch.optim.Adam(network.parameters())
nn.functional.cross_entropy(network(x[:10]), y[:10]).backward()
optimizer.step()
network(x)
"""
"""What torch itself takes for the same: an optimiser loads its compiler, whether it is used or not."""


def measure(bench: Bench) -> Finding:
    """`askwise --help`, `import askwise` and a first score, in new processes, in turn."""
    commands = {
        "help": [str(Path(sys.executable).parent / "askwise"), "--help"],
        "import": [sys.executable, "-c", "import askwise"],
        "first score": [sys.executable, "-c", _FIRST],
        "plain": [sys.executable, "-c", _PLAIN],
        "python": [sys.executable, "-c", "pass"],
    }
    for command in commands.values():  # what is on disk is read once before
        _seconds(command)
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(_TIMES * bench.sizes.rounds):
        for name, command in commands.items():
            found[name].append(_seconds(command))
    spreads = {name: spread(seconds) for name, seconds in found.items()}
    lines = [
        _line("startup.help", "`askwise --help`", spreads["help"], goal=0.5),
        _line("startup.help.aim", "`askwise --help`", spreads["help"], goal=0.2, aim=True),
        _line("startup.import", "`import askwise`", spreads["import"]),
        _line(
            "startup.first",
            "from the import to the first score of 100 images",
            spreads["first score"],
            goal=2,
        ),
        _line(
            "startup.plain", "from torch's import to one step and one pass, without askwise", spreads["plain"]
        ),
    ]
    return Finding(lines, found)


def _line(key: str, what: str, found: Spread, *, goal: float | None = None, aim: bool = False) -> Line:
    measured = f"{found.median:.2f} s in a new process"
    return Line(key, what, measured, **of_spread(found), goal=goal, sense="at most", unit=" s", aim=aim)


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
