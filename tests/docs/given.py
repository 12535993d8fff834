"""What the blocks of the documentation start from, each made in the folder where they run."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

import askwise as aw
from askwise.encoders import PICTURES

TONES = {"cat": (200, 30, 30), "dog": (30, 200, 30), "bird": (30, 30, 200)}


def _rows(path: str, rows: list[tuple[Any, ...]]) -> None:
    with Path(path).open("w", newline="") as file:
        csv.writer(file).writerows(rows)


ENCODER = """
import torch

class Tones(torch.nn.Module):
    size, width, licence = 8, 3, "CC0"

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor(2.0))

    def forward(self, x):
        return self.scale * x.mean(dim=(2, 3))

def make():
    return Tones()
"""
LETTERS = """
import torch

class Letters(torch.nn.Module):
    width, licence = 8, "CC0"

    def tokens(self, texts, *, length):
        return torch.tensor([[ord(letter) for letter in text[:8].ljust(8)] for text in texts])

    def forward(self, tokens):
        return tokens.float() / 128

def make():
    return Letters()
"""


def quick(takes: str) -> str:
    """An encoder that takes no time, in place of the best one that is installed."""
    return "quick_tones:make" if takes == PICTURES else "quick_letters:make"


def photos() -> dict[str, Any]:
    """Folders photos/ and new_photos/, labels.csv with some labels, answers.csv with all."""
    Path("quick_tones.py").write_text(ENCODER)
    rng = np.random.default_rng(0)
    rows: list[tuple[Any, ...]] = [("id", "label")]
    for folder, count in (("photos", 8), ("new_photos", 1)):
        Path(folder).mkdir(exist_ok=True)
        for name, tone in TONES.items():
            for number in range(count):
                noise = rng.normal(0, 25, (24, 24, 3))
                file = f"{name}{number}.png"
                Image.fromarray((tone + noise).clip(0, 255).astype(np.uint8)).save(Path(folder, file))
                if folder == "photos":
                    rows.append((file, name))
    _rows("labels.csv", rows)
    _rows("answers.csv", rows)
    return {}


def texts() -> dict[str, Any]:
    """reviews.csv, some sentences with an id, and answers.csv with what they say."""
    Path("quick_letters.py").write_text(LETTERS)
    words = {"good": ("lovely", "great", "superb", "a joy"), "bad": ("dull", "awful", "broken", "a waste")}
    said = [(f"{word} number {n}", kind) for n in range(4) for kind, many in words.items() for word in many]
    _rows("reviews.csv", [("id", "text"), *((f"r{n}", text) for n, (text, _) in enumerate(said))])
    _rows("answers.csv", [("id", "label"), *((f"r{n}", kind) for n, (_, kind) in enumerate(said))])
    return {}


def table() -> dict[str, Any]:
    """flowers.csv, a table of irises with an id, and answers.csv with their kinds."""
    from sklearn.datasets import load_iris

    iris = load_iris()
    head = ("id", "sepal_length", "sepal_width", "petal_length", "petal_width")
    _rows("flowers.csv", [head, *((f"f{n}", *row) for n, row in enumerate(iris.data[::3].tolist()))])
    kinds = [str(iris.target_names[kind]) for kind in iris.target[::3]]
    _rows("answers.csv", [("id", "label"), *((f"f{n}", kind) for n, kind in enumerate(kinds))])
    return {}


def vectors() -> dict[str, Any]:
    """Names of Python: x, y, network, fitted, pool, inputs, new_x and answer."""
    x = torch.randn(60, 5, generator=torch.Generator().manual_seed(0))
    network = aw.nets.mlp(5, 2, hidden=(8,), dropout=0.5)
    y = (x[:, 0] > 0).long()
    return {
        "torch": torch,
        "aw": aw,
        "network": network,
        "x": x,
        "y": y,
        "pool": x,
        "inputs": x[:3],
        "new_x": x[:4],
        "answer": lambda item: "dog" if item[0] > 0 else "cat",
        "fitted": aw.fit(network, (x, y), training=aw.Training(epochs=1), seed=0),
    }


GIVEN = {"photos": photos, "texts": texts, "table": table, "vectors": vectors}
