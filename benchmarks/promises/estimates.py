"""The share of a class over the pool: coverage and width beside a plain sample and counted predictions."""

from typing import Any

import torch
from torch import Tensor

from askwise.assess import mean, prevalence
from promises.bands import exact_interval
from promises.runs import Runs

SAMPLES, ANSWERS = 2, 100  # uniform samples of so many answers for each run
OURS, PLAIN, NORMAL, COUNTED = (
    "prediction-powered",
    "the answers alone",
    "t interval, prediction-powered",
    "counted predictions",
)
SETTINGS = {"samples": SAMPLES, "answers": ANSWERS}


def simulate(runs: Runs, logits: Tensor, size: int) -> dict[str, Any]:
    """Hits and widths over runs and samples; every run estimates the share of one class, in turn."""
    found = {name: {"covered": 0, "covered_pool": 0, "width": 0.0} for name in (OURS, PLAIN, NORMAL, COUNTED)}
    for run in range(runs.count):
        wanted = run % runs.classes
        probs = logits[run, :, :size].softmax(dim=0)[wanted].double()
        counted = float((logits[run, :, :size].argmax(dim=0) == wanted).double().mean())
        truth = (runs.y[run, :size] == wanted).double()
        pool = float((runs.y[run, : runs.pool] == wanted).double().mean())
        for _ in range(SAMPLES):
            drawn = torch.randperm(size, generator=runs.rng)[:ANSWERS]
            ours = prevalence(truth[drawn].bool(), probs[drawn], probs)
            normal = mean(truth[drawn], probs[drawn], probs)
            low, high = (float(v) for v in exact_interval(truth[drawn].sum().unsqueeze(0), ANSWERS))
            half = 1.96 * (counted * (1 - counted) / size) ** 0.5
            intervals = {
                OURS: (ours.low, ours.high),
                PLAIN: (low, high),
                NORMAL: (normal.low, normal.high),
                COUNTED: (counted - half, counted + half),
            }
            for name, (least, most) in intervals.items():
                found[name]["covered"] += least <= float(truth.mean()) <= most
                found[name]["covered_pool"] += least <= pool <= most
                found[name]["width"] += most - least
    return {**found, "samples": runs.count * SAMPLES}
