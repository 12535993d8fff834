"""Many runs of active learning in step: a softmax regression on frozen features, learned on after every answer."""

import torch
from torch import Tensor
from torch.nn import functional as F

from promises.sets import Labelled

VARIANCE, BIAS = 30.0, 0.1  # of the weights' prior; the bias has a tenth of it
STEPS = 3  # of Böhning's monotone bound (1992) on the log-likelihood, after every answer
RANDOM = 10  # first answers
SETTINGS = {"prior_variance": VARIANCE, "bias": BIAS, "steps": STEPS, "random_first": RANDOM}


class Runs:
    """R runs with a pool each: `order` [R, N] are its items of one set, then others that are new data.

    Classes come before items: what is done to every class is then done to whole rows of items.
    """

    def __init__(self, data: Labelled, order: Tensor, *, pool: int, rng: torch.Generator) -> None:
        count = len(order)
        self.rng, self.rows = rng, torch.arange(count)
        x = torch.cat([data.features, torch.full((len(data.labels), 1), BIAS**0.5)], dim=1)
        self.y = data.labels[order]  # [R, N]
        items = x[order].mT
        self.pool_x = items[..., :pool].contiguous()  # [R, D, N]
        self.new_x = items[..., pool:].contiguous()
        self.pool, self.classes, self.count = pool, data.classes, count
        self.weights = torch.zeros(count, data.classes, x.shape[1])
        self.inverse = VARIANCE * torch.eye(x.shape[1]).repeat(count, 1, 1)
        self.x, self.target = x.new_empty(count, 0, x.shape[1]), x.new_empty(count, data.classes, 0)
        self.learned = torch.empty(count, 0, dtype=torch.int64)
        self.open = torch.ones(count, pool, dtype=torch.bool)  # what may still be asked for learning

    def logits(self) -> Tensor:
        """Of every item of the pool [R, C, N]."""
        return self.weights @ self.pool_x

    def new_wrong(self) -> Tensor:
        """The share of wrong predictions on new data [R]."""
        return wrong(self.weights @ self.new_x, self.y[:, self.pool :]).double().mean(dim=1)

    def ask(self, margin: Tensor) -> Tensor:
        """The open item with the smallest margin in every run; random ones at first."""
        if self.learned.shape[1] < RANDOM:
            margin = torch.rand(margin.shape, generator=self.rng)
        return margin.masked_fill(~self.open, torch.inf).argmin(dim=1)

    def learn(self, position: Tensor, label: Tensor | None = None, *, steps: int = STEPS) -> None:
        """One more answer in every run, the true one unless another is given, and steps to the new mode."""
        self.open[self.rows, position] = False
        given = self.y[self.rows, position] if label is None else label
        x = self.pool_x[self.rows, :, position]
        self.learned = torch.cat([self.learned, position.unsqueeze(1)], dim=1)
        self.x = torch.cat([self.x, x.unsqueeze(1)], dim=1)
        self.target = torch.cat([self.target, F.one_hot(given, self.classes).float().unsqueeze(2)], dim=2)
        moved = self.inverse @ x.unsqueeze(2)
        self.inverse -= moved @ moved.mT * (0.5 / (1 + 0.5 * (x.unsqueeze(1) @ moved)))
        self.weights = improved(self.weights, self.x, self.target, self.inverse, steps)


def drawn(data: Labelled, count: int, *, size: int, rng: torch.Generator) -> Tensor:
    """Random items of a set for so many runs [R, N]."""
    every = [torch.randperm(len(data.labels), generator=rng) for _ in range(count)]
    return torch.stack(every)[:, :size]


def improved(weights: Tensor, x: Tensor, target: Tensor, inverse: Tensor, steps: int) -> Tensor:
    """Weights [R, C, D] some steps nearer to the mode; `inverse` is that of the bound on the curvature."""
    turned = x.mT.contiguous()
    for _ in range(steps):
        slope = ((weights @ turned).softmax(dim=1) - target) @ x + weights / VARIANCE
        weights = weights - slope @ inverse
    return weights


def margin_and_uncertainty(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Difference of the two largest probabilities, and 1 - the largest: [R, N] each."""
    best = logits.amax(dim=1, keepdim=True)
    odds = (logits - best).exp_()
    total = odds.sum(dim=1)
    second = odds.masked_fill_(logits == best, 0).amax(
        dim=1
    )  # of equals the margin is that to the next: they are rare
    return (1 - second) / total, 1 - 1 / total


def wrong(logits: Tensor, labels: Tensor) -> Tensor:
    """Whether another class than the label is likeliest [R, N]; much faster than argmax."""
    return logits.gather(1, labels.unsqueeze(1)).squeeze(1) < logits.amax(dim=1)
