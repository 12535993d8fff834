"""Every formula once more, in plain Python floats and loops, written without looking at askwise.

An item is a list of T draws; a draw is a list of C probabilities.
"""

import math
from itertools import product

import torch

Draw = list[float]
Item = list[Draw]


def entropy(p: Draw) -> float:
    return sum(-x * math.log(x) for x in p if x > 0)


def mean(item: Item) -> Draw:
    return [sum(draw[c] for draw in item) / len(item) for c in range(len(item[0]))]


def max_entropy(item: Item) -> float:
    return entropy(mean(item))


def expected_entropy(item: Item) -> float:
    return sum(entropy(draw) for draw in item) / len(item)


def bald(item: Item) -> float:
    """As the divergence of each draw from the mean, not as a difference of entropies."""
    average = mean(item)
    return sum(
        x * math.log(x / m) for draw in item for x, m in zip(draw, average, strict=True) if x > 0
    ) / len(item)


def least_confidence(item: Item) -> float:
    return 1 - max(mean(item))


def vote_ratio(item: Item) -> float:
    """For draws without ties."""
    votes = [draw.index(max(draw)) for draw in item]
    return 1 - max(votes.count(c) for c in votes) / len(votes)


def mean_std(item: Item) -> float:
    total = 0.0
    for c, average in enumerate(mean(item)):
        total += math.sqrt(sum((draw[c] - average) ** 2 for draw in item) / len(item))
    return total / len(item[0])


def margin(item: Item) -> float:
    best, second = sorted(mean(item), reverse=True)[:2]
    return 1 - (best - second)


def top_u(item: Item, u: int) -> float:
    """For draws without ties."""
    shares = [0.0] * len(item[0])
    for draw in item:
        for c in sorted(range(len(draw)), key=lambda c: -draw[c])[:u]:
            shares[c] += 1 / u / len(item)
    return entropy(shares) - math.log(u)


def epig(item: Item, targets: list[Item]) -> float:
    total = 0.0
    for target in targets:
        draws = range(len(item))
        for a, b in product(range(len(item[0])), range(len(target[0]))):
            joint = sum(item[t][a] * target[t][b] for t in draws) / len(item)
            if joint > 0:
                total += joint * math.log(joint / (mean(item)[a] * mean(target)[b]))
    return total / len(targets)


def joint_information(items: list[Item]) -> float:
    """Mutual information of all labels together with the draws, over every configuration."""
    draws = range(len(items[0]))
    together = 0.0
    for labels in product(*(range(len(item[0])) for item in items)):
        chance = sum(
            math.prod(item[t][c] for item, c in zip(items, labels, strict=True)) for t in draws
        ) / len(items[0])
        together += entropy([chance])
    return together - sum(expected_entropy(item) for item in items)


def greedy_batch(items: list[Item], count: int) -> tuple[list[int], list[float]]:
    """BatchBALD as printed: every item looked at in every step; picks and joint scores."""
    picks: list[int] = []
    scores: list[float] = []
    while len(picks) < count:
        rest = [n for n in range(len(items)) if n not in picks]
        found = {n: joint_information([items[m] for m in [*picks, n]]) for n in rest}
        picks.append(max(found, key=found.__getitem__))
        scores.append(found[picks[-1]])
    return picks, scores


def predictions(*shape: int, seed: int = 0, scale: float = 2.0, certain: float = 0.0) -> torch.Tensor:
    """Float64 log-probs of a shape; a share `certain` of the rows is exactly 0 and 1."""
    rng = torch.Generator().manual_seed(seed)
    logits = scale * torch.randn(shape, dtype=torch.float64, generator=rng)
    sure = torch.rand(shape[:-1], generator=rng) < certain
    hot = torch.nn.functional.one_hot(logits.argmax(-1), shape[-1]).double()
    return torch.where(sure[..., None], hot.log(), logits.log_softmax(-1))


def items(log_probs: torch.Tensor) -> list[Item]:
    """The probabilities as nested lists."""
    found: list[Item] = log_probs.double().exp().tolist()
    return found
