"""The loop over pictures and texts, bad ones among them."""

import numpy as np
import torch
from PIL import Image
from small_run import FAST, ledger
from torch import nn

from askwise.loop.decide import Stop
from askwise.loop.learner import Learner
from askwise.pool import images, text


def test_pictures(folder):
    rng = np.random.default_rng(0)
    truth = {}
    for number in range(12):
        bright = number % 2
        pixels = rng.integers(128 * bright, 128 * bright + 128, size=(8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:02d}.png")
        truth[f"{number:02d}.png"] = ["dark", "bright"][bright]
    (folder / "torn.png").write_bytes((folder / "00.png").read_bytes()[:50])
    network = nn.Sequential(nn.Flatten(), nn.Linear(3 * 8 * 8, 2))
    run = Learner(
        network,
        pool=images(folder, size=8),
        classes=["dark", "bright"],
        budget=12,
        batch=4,
        draws=4,
        training=FAST,
    )
    assert isinstance(run.run(oracle=truth), Stop)
    counts = run.status().counts
    assert (counts.labelled, counts.quarantined, counts.items) == (12, 1, 13)
    assert list(ledger(run).quarantined) == ["torn.png"]


def test_texts(folder):
    (folder / "pool.csv").write_text(
        "id,text\n" + "".join(f"{n},{'ab'[n % 2] * (n + 1)}\n" for n in range(9)) + "9,\n"
    )
    pool = text(
        folder / "pool.csv",
        id_column="id",
        encode=lambda texts: torch.tensor([[w.count("a"), w.count("b")] for w in texts]).float(),
    )
    run = Learner(
        nn.Sequential(nn.Linear(2, 2)),
        pool=pool,
        classes=["a", "b"],
        budget=9,
        batch=3,
        draws=4,
        training=FAST,
    )
    assert run.status().counts.quarantined == 1
    assert isinstance(run.run(oracle=lambda question: "ab"[int(question.id) % 2]), Stop)
    assert run.status().counts.labelled == 9
