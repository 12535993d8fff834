"""Certified sets beside trusting the confidence, conformal selection and what would be possible."""

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from askwise.assess import Certificate, certify
from askwise.seeding import derive
from promises.runs import Runs, margin_and_uncertainty

ERRORS, CHECKS, AUDITS, LEARNED = (0.02, 0.05), (200, 400), 2, 300
CERTIFIED, TRUSTED, CONFORMAL, BEST = (
    "certified",
    "trusting the confidence",
    "conformal selection",
    "best possible",
)
SETTINGS = {"errors": ERRORS, "checks": CHECKS, "audits": AUDITS, "learned": LEARNED, "confidence": 0.95}
ADVERSARIAL_RUNS, ADVERSARIAL_POOL = 250, 3000


def simulate(runs: Runs, logits: Tensor, open_: Tensor, *, seed: int) -> dict[str, Any]:
    """Shares certified and promises broken, over the runs and audits, by error and way."""
    _, uncertainty = margin_and_uncertainty(logits)
    predicted = logits.argmax(dim=1)
    region = torch.arange(runs.pool) < int(0.3 * runs.pool)
    found: dict[str, dict[str, list[float]]] = {}
    for run in range(runs.count):
        rest = (open_[run] | region).nonzero().squeeze(1)  # what was not learned from
        unsure, label = uncertainty[run, rest].double(), predicted[run, rest]
        wrong = label != runs.y[run, rest]
        for audit in range(AUDITS):
            number = derive(seed, run, audit)
            for error in ERRORS:
                for way, chosen in _sets(unsure, label, wrong, error, number, runs.classes, runs.rng).items():
                    told = found.setdefault(f"{error:g} {way}", {"share": [], "broken": [], "some": []})
                    told["share"].append(float(chosen.double().mean()))
                    told["broken"].append(
                        float(wrong[chosen].double().mean() > error if chosen.any() else False)
                    )
                    told["some"].append(float(chosen.any()))
    return {name: {what: sum(values) for what, values in told.items()} for name, told in found.items()} | {
        "audits": runs.count * AUDITS
    }


def _sets(
    unsure: Tensor, label: Tensor, wrong: Tensor, error: float, seed: int, classes: int, rng: torch.Generator
) -> dict[str, Tensor]:
    """Which items each way would give out."""
    right = dict(enumerate((~wrong).tolist()))
    sets = {}
    for checks in CHECKS:
        told = certify(unsure, label, right, classes=classes, error=error, checks=checks, seed=seed)
        chosen = torch.zeros_like(wrong)
        if isinstance(told, Certificate):
            chosen[told.positions] = True
        sets[f"{CERTIFIED}, {checks} checks"] = chosen
    surest = unsure.argsort(stable=True)
    place = torch.arange(1, len(unsure) + 1)
    sets[TRUSTED] = _prefix(surest, unsure[surest].cumsum(0) / place <= error)
    sets[BEST] = _prefix(surest, wrong[surest].cumsum(0) / place <= error)
    sets[f"{CONFORMAL}, {CHECKS[0]} checks"] = _conformal(unsure, wrong, error, rng)
    return sets


def _prefix(surest: Tensor, fine: Tensor) -> Tensor:
    """The surest items up to the last place that is fine."""
    chosen = torch.zeros(len(surest), dtype=torch.bool)
    if fine.any():
        chosen[surest[: int(fine.nonzero().max()) + 1]] = True
    return chosen


def _conformal(unsure: Tensor, wrong: Tensor, error: float, rng: torch.Generator) -> Tensor:
    """Conformal p-values of "this label is wrong" from uniform checks, then Benjamini and Hochberg (Jin and Candès 2023)."""
    checked = torch.randperm(len(unsure), generator=rng)[: CHECKS[0]]
    bad = unsure[checked[wrong[checked]]].sort().values
    p = (1 + torch.searchsorted(bad, unsure, right=True)) / (CHECKS[0] + 1)
    order = p.argsort(stable=True)
    fine = p[order] <= error * torch.arange(1, len(p) + 1) / len(p)
    return _prefix(order, fine)


def adversarial(error: float, seed: int) -> dict[str, Any]:
    """How often a pool is certified in which every nested set has one error more than the promise allows."""
    count = {f"{checks}": 0 for checks in CHECKS}
    size = ADVERSARIAL_POOL
    unsure = (
        error * (torch.arange(size, dtype=torch.float64) + 0.4) / size
    )  # the first set is 30 % of the pool
    label = torch.zeros(size, dtype=torch.int64)
    for run in range(ADVERSARIAL_RUNS):
        rng = torch.Generator().manual_seed(derive(seed, "adversarial", run))
        wrong = torch.zeros(size, dtype=torch.bool)
        edges = [0, *range(round(0.3 * size), size, 75), size]
        for start, end in pairwise(edges):
            more = int(error * end + 1e-9) + 1 - int(wrong.sum())
            wrong[start + torch.randperm(end - start, generator=rng)[:more]] = True
        right = dict(enumerate((~wrong).tolist()))
        for checks in CHECKS:
            told = certify(
                unsure, label, right, classes=2, error=error, checks=checks, seed=derive(seed, run)
            )
            if isinstance(told, Certificate):
                count[f"{checks}"] += bool(wrong[told.positions].double().mean() > error)
    return {"broken": count, "runs": ADVERSARIAL_RUNS}
