"""A plan that runs in a second: digits, a small dense network, one epoch."""

from pathlib import Path

TEXT = """
data = "digits"
network = "mlp"
initial = 10
batch = 5
budget = 20
draws = 3
test = 60
[training]
epochs = 2
"""


def write_plan(folder: Path, extra: str = "", *, name: str = "tiny.toml") -> Path:
    path = folder / name
    path.write_text(extra + TEXT)
    return path
