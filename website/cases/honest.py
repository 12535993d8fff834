"""Promises that cannot be made: how good a model is, which labels can be trusted."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from askwise.assess import band, recalls
from askwise.loop.status import status
from askwise.store import open_store
from website.cases.outcome import command, refused

_PLAN = (
    'data = "items.npy"\nnetwork = "mlp"\nclasses = ["a", "b"]\nstore = "run.db"\nbudget = 12\nbatch = 4\n'
    "initial = 4\ntraining = {epochs = 2}\n"
)


def cases() -> Iterator[tuple[str, str]]:
    """What each wish for a promise gets."""
    np.save("items.npy", np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32))
    wrong, labels = torch.zeros(20, dtype=torch.bool), torch.zeros(20, dtype=torch.int64)
    yield "a band with alpha = 0", refused(lambda: band(wrong, alpha=0))
    yield "a band of fewer than ten test answers", refused(lambda: band(wrong[:4]))
    yield "the recall of one class", refused(lambda: recalls(labels, labels, classes=1))
    yield "a region too small for a band", _run("testing = 0.2\nregion = 0.1")
    yield "more than half of the questions to test with", _run("testing = 0.6")
    yield "until = 0.9 without test questions", _run("until = 0.9")
    yield "an accuracy after two test answers", _status("testing = 0.2\nregion = 0.3")
    yield "a certificate for an error of 0", command("certify", "plan.toml", "--error", "0")
    yield (
        "a certificate that is sure",
        command("certify", "plan.toml", "--error", "0.05", "--confidence", "1"),
    )
    yield "a certificate without checks", command("certify", "plan.toml", "--error", "0.05", "--checks", "0")
    yield "the share of a class that is not there", command("estimate", "plan.toml", "--class", "c")
    yield (
        "an interval of no width",
        command("estimate", "plan.toml", "--class", "a", "--width", "0"),
    )


def _run(lines: str) -> str:
    Path("plan.toml").write_text(f"{_PLAN}{lines}\n")
    return command("run", "plan.toml")


def _status(lines: str) -> str:
    """What the status says of the accuracy after a short run."""
    Path("plan.toml").write_text(f"{_PLAN}{lines}\n")
    answers = "".join(f"{row},{'ab'[row % 2]}\n" for row in range(60))
    Path("answers.csv").write_text(f"row,label\n{answers}")
    ended = command("run", "plan.toml", "--oracle", "answers.csv")
    if ended != "taken":
        raise AssertionError(ended)
    store = open_store(Path("run.db"), access="read")
    try:
        found = status(store).quality
    finally:
        store.close()
    return f"taken: the accuracy is not known: {found.why}" if found and found.why else "taken"
