"""Wrong answers: how many of them the first suspects are, and what looking at them again is worth."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from askwise.assess import folds, suspects
from promises.runs import STEPS, VARIANCE, Runs, improved, margin_and_uncertainty

LABELS, REASKED, FOLDS, FINAL = (
    300,
    30,
    5,
    100,
)  # answers, looked at again at most, folds, steps of a whole fit
NOISES = (0.05, 0.1, 0.2)
SETS = ("mnist", "trec")
SETTINGS = {"labels": LABELS, "reasked": REASKED, "folds": FOLDS, "fit_steps": FINAL}


def simulate(runs: Runs, noise: float, *, seed: int) -> dict[str, Any]:
    """Means over the runs: wrong labels found by each way, and accuracies on new data after each."""
    _answered(runs, noise, LABELS + REASKED)
    x, given = runs.x[:, :LABELS], runs.target.argmax(dim=1)[:, :LABELS]
    true = runs.y.gather(1, runs.learned)
    wrong = given != true[:, :LABELS]
    apart = _apart(x, given, runs.classes, seed)
    seen = _log_probs(_fitted(x, given, runs.classes), x)
    found, fixed = {"cross-fitted": [], "in sample": [], "random": []}, given.clone()
    for run in range(runs.count):
        ranked = {
            "cross-fitted": suspects(apart[run], given[run], count=REASKED, seed=seed).positions,
            "in sample": suspects(seen[run], given[run], count=REASKED, seed=seed).positions,
            "random": torch.randperm(LABELS, generator=runs.rng)[:REASKED],
        }
        for way, picks in ranked.items():
            found[way].append(float(wrong[run, picks].sum() / wrong[run].sum().clamp(min=1)))
        again = ranked["cross-fitted"]
        fixed[run, again] = true[run, again]
    labels = {
        "as answered": (x, given),
        "suspects asked again": (x, fixed),
        "as many new labels instead": (runs.x, runs.target.argmax(dim=1)),
        "all answers right": (x, true[:, :LABELS]),
    }
    return {
        "found": {way: sum(shares) / len(shares) for way, shares in found.items()},
        "wrong": float(wrong.double().sum(dim=1).mean()),
        "accuracy": {name: _accuracy(runs, *learned) for name, learned in labels.items()},
    }


def _answered(runs: Runs, noise: float, count: int) -> None:
    """Margin sampling by an annotator who errs at random."""
    margin, _ = margin_and_uncertainty(runs.logits())
    for _ in range(count):
        asked = runs.ask(margin)
        errs = torch.rand(runs.count, generator=runs.rng) < noise
        other = torch.randint(1, runs.classes, (runs.count,), generator=runs.rng)
        label = runs.y[runs.rows, asked]
        runs.learn(asked, torch.where(errs, (label + other) % runs.classes, label), steps=STEPS)
        margin, _ = margin_and_uncertainty(runs.logits())


def _fitted(x: Tensor, labels: Tensor, classes: int, kept: Tensor | None = None) -> Tensor:
    """The mode of the labels that are kept [R, C, D]."""
    if kept is not None:
        x, labels = x[:, kept], labels[:, kept]
    target = F.one_hot(labels, classes).float().mT
    inverse = torch.linalg.inv(0.5 * x.mT @ x + torch.eye(x.shape[2]) / VARIANCE)
    return improved(torch.zeros(len(x), classes, x.shape[2]), x, target, inverse, FINAL)


def _log_probs(weights: Tensor, x: Tensor) -> Tensor:
    return (x @ weights.mT).log_softmax(dim=2)


def _apart(x: Tensor, labels: Tensor, classes: int, seed: int) -> Tensor:
    """Log-probabilities of every label by a model that has not seen it."""
    fold = folds(range(LABELS), count=FOLDS, seed=seed)
    out = x.new_empty(*labels.shape, classes)
    for part in range(FOLDS):
        out[:, fold == part] = _log_probs(_fitted(x, labels, classes, fold != part), x[:, fold == part])
    return out


def _accuracy(runs: Runs, x: Tensor, labels: Tensor) -> float:
    runs.weights = _fitted(x, labels, runs.classes)
    return float(1 - runs.new_wrong().mean())
