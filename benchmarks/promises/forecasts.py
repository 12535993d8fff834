"""What the next fifty labels were forecast to bring, and what they brought."""

from typing import Any

import torch
from torch import Tensor

from askwise.assess import forecast
from promises.runs import Runs, margin_and_uncertainty

AT, AHEAD, EVERY = (100, 150, 200, 250, 300, 350), 50, 5  # training answers
SETTINGS = {"at": AT, "ahead": AHEAD, "measured_every": EVERY}


def simulate(runs: Runs) -> dict[str, Any]:
    """Gain and interval as forecast, and the true gain on new data, of every run and time."""
    counts: list[int] = []
    confidence: list[Tensor] = []
    accuracy: list[Tensor] = []
    margin, _ = margin_and_uncertainty(runs.logits())
    while len(counts) * EVERY < max(AT) + AHEAD:
        for _ in range(EVERY):
            runs.learn(runs.ask(margin))
            margin, uncertainty = margin_and_uncertainty(runs.logits())
        counts.append(runs.learned.shape[1])
        confidence.append(1 - uncertainty.mean(dim=1))
        accuracy.append(1 - runs.new_wrong())
    found = []
    level = torch.stack(confidence, dim=1).tolist()
    for now in AT:
        until = counts.index(now) + 1
        gains = accuracy[counts.index(now + AHEAD)] - accuracy[until - 1]
        for run, gain in enumerate(gains.tolist()):
            told = forecast(counts[:until], level[run][:until], ahead=AHEAD)
            found.append([round(value, 5) for value in (told.gain, told.low, told.high, gain)])
    return {"forecasts": found}
