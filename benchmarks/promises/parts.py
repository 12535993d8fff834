"""Coverage of the bands of parts, looked at after every test answer: recall by class, tags, groups."""

from typing import Any

import torch
from torch import Tensor

from askwise.assess.band import LEAST, Spread, readings
from promises.bands import ALPHA, ANSWERS, EVERY, REGION, outside, won
from promises.runs import Runs, margin_and_uncertainty, wrong

GROUP = 10  # items alike, by their first feature
RECALLS, TAGS, GROUPS = "recall by class, together", "tags, together", "groups"
NAIVE_RECALLS, NAIVE_TAGS, NAIVE_GROUPS = (
    "Clopper-Pearson by class",
    "Clopper-Pearson by tag",
    "items of whole groups, taken for single draws",
)
WAYS = (RECALLS, NAIVE_RECALLS, TAGS, NAIVE_TAGS, GROUPS, NAIVE_GROUPS)
SETTINGS = {"alpha": ALPHA, "region": REGION, "test_every": EVERY, "answers": ANSWERS, "group": GROUP}


def simulate(runs: Runs) -> dict[str, Any]:
    """In how many runs each band has missed the truth at any look."""
    size = int(REGION * runs.pool) // GROUP * GROUP
    runs.open[:, : int(REGION * runs.pool)] = False
    order = torch.stack([torch.randperm(size, generator=runs.rng) for _ in range(runs.count)])
    met, whole, group = _by_groups(runs, size)
    missed = {name: torch.zeros(runs.count, dtype=torch.bool) for name in WAYS}
    for answers in range(1, ANSWERS + 1):
        if answers % EVERY:
            runs.learn(runs.ask(margin_and_uncertainty(runs.logits())[0]))
            continue
        n = answers // EVERY
        if n < LEAST:
            continue
        logits, labels = runs.logits()[..., :size], runs.y[:, :size]
        for name, found in _parts(logits, labels, order[:, :n], runs.classes).items():
            missed[name] |= found
        bad, unsure = wrong(logits, labels).double(), margin_and_uncertainty(logits)[1].double()
        groups = min(n, size // GROUP)  # each is met once; more answers only deepen
        sums = torch.zeros(runs.count, size // GROUP, dtype=torch.float64).scatter_add_(1, group, unsure)
        missed[GROUPS] |= _misses(bad, (sums / GROUP).gather(1, group), met[:, :groups], ALPHA)
        missed[NAIVE_GROUPS] |= _misses(bad, unsure, whole[:, :n], ALPHA)
    return {"missed": {name: int(found.sum()) for name, found in missed.items()}}


def _parts(logits: Tensor, labels: Tensor, drawn: Tensor, classes: int) -> dict[str, Tensor]:
    """Which runs miss the recall of any class, or the accuracy of any tag, by each way."""
    n, none = drawn.shape[1], torch.zeros(len(labels), dtype=torch.bool)
    found = {name: none.clone() for name in (RECALLS, NAIVE_RECALLS, TAGS, NAIVE_TAGS)}
    bad, probs = wrong(logits, labels).double(), logits.softmax(dim=1).double()
    for one in range(classes):
        mine = (labels == one).double()
        truth = (bad * mine).sum(dim=1) / mine.sum(dim=1).clamp(min=1)
        tested, errors = mine.gather(1, drawn), (bad * mine).gather(1, drawn)
        # an answer of another class changes no capital: it is as if it were the claimed mean
        values = torch.where(tested > 0, errors, truth.unsqueeze(1)).unsqueeze(1)
        low, high = values.new_zeros(len(values), 1), values.new_ones(len(values), 1)
        found[RECALLS] |= won(values, low, high, truth) >= 2 * classes / ALPHA
        found[NAIVE_RECALLS] |= outside(errors.sum(dim=1), tested.sum(dim=1), truth)
        on = probs[:, one] > 0.5
        tag_bad = (on != (labels == one)).double()
        uncertainty = torch.minimum(probs[:, one], 1 - probs[:, one])
        found[TAGS] |= _misses(tag_bad, uncertainty, drawn, ALPHA / classes)
        found[NAIVE_TAGS] |= outside(tag_bad.gather(1, drawn).sum(dim=1), n, tag_bad.mean(dim=1))
    return found


def _misses(bad: Tensor, unsure: Tensor, drawn: Tensor, alpha: float) -> Tensor:
    """Whether the band of these draws misses the region's error."""
    both, low, high = readings(bad.gather(1, drawn), unsure.gather(1, drawn), Spread.of(unsure))
    return won(both, low, high, bad.mean(dim=1)) >= 2 / alpha


def _by_groups(runs: Runs, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draws of a group and then an item in it, draws of whole groups, and the group of every item."""
    met, whole, group = [], [], []
    for run in range(runs.count):
        members = (
            runs.pool_x[run, 0, :size]
            .argsort()
            .view(-1, GROUP)[torch.randperm(size // GROUP, generator=runs.rng)]
        )
        inside = torch.randint(GROUP, (len(members),), generator=runs.rng)
        met.append(members[torch.arange(len(members)), inside])
        whole.append(members.flatten())
        group.append(torch.empty(size, dtype=torch.int64))
        group[-1][members.flatten()] = torch.arange(size) // GROUP
    return torch.stack(met), torch.stack(whole), torch.stack(group)
