"""How precise the prior of a last layer is: for its mode, and for the Gaussian around it.

The two need not be one. Under a prior wide enough for a good mode of classes, even the exact posterior
predicts worse than its mode where the labels say little, and its Gaussian far worse: underconfident.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.bayes.posteriors.curvature import bends, output_gain
from askwise.bayes.posteriors.last_layer import LastLayer
from askwise.bayes.posteriors.mode import mode
from askwise.math.evidence import highest, log_evidence
from askwise.seeding import generator

_ROUGH, _NEAR = 1e-2, 5e-2  # how near to a mode, in standard deviations: to compare it, to predict from it
_FOLDS, _ENOUGH = 5, 2000  # parts of the items that are left out, one after the other; items left out
_PAIRS = 16  # of draws, up and down, over which a prediction is averaged
_BUDGET = 32 * 2**20  # bytes of drawn outputs at a time
_WIDTH = 3.0, 1.5  # the guess about the width: median, in mean squares of the features, and nats
_STEP = 1.0  # nats between looks; half of it is near enough, both hills being flat at their tops


@dataclass(frozen=True)
class Guess:
    """What a precision is before any label is seen: log-normal, by its median and `nats` of deviation."""

    median: float
    nats: float

    def log_density(self, precision: float) -> float:
        """The log density of its logarithm, up to a constant."""
        return -(((math.log(precision) - math.log(self.median)) / self.nats) ** 2) / 2


@dataclass(frozen=True)
class Left:
    """Outputs [N, C] at a mode that has not seen the items, and the items themselves.

    `outside` [N] is what of their features' squares no axis sees. Items that are in the curvature
    after all are `own`, and are taken out of it.
    """

    model: LastLayer
    outputs: Float[Tensor, "N C"]
    outside: Float[Tensor, " N"]
    own: bool


def guess(model: LastLayer) -> Guess:
    """What the features suggest: classes get logits of a variance of 100, numbers the targets' own.

    Measured for classes on held-out training items (digits and MNIST under trained networks, photos
    and questions under frozen encoders, 20 to 1,000 labels, some with a fifth of the labels wrong),
    with the marginal likelihood: the mode's NLL is 1.5 % above that of the best precision in the
    mean and 3.8 % at most. Twice the deviation lets few labels choose too strong a prior (9 %), a
    tenth of it has no answer to wrong labels (44 %).
    """
    if model.task.supplies == "moments":
        squares = model.labels.double().square().mean().item()
        return Guess(model.mean_squares().sum().item() / (squares or 1.0) or 1.0, nats=2.0)
    return Guess(spread(model) / 100, nats=0.5)


def spread(model: LastLayer) -> float:
    """The mean squared distance of the features from their mean; never zero."""
    squares = model.mean_squares().sum()
    found = (squares - model.features.mean(dim=0, dtype=torch.float64).square().sum()).item()
    return found if found > 1e-9 * squares else float(squares) or 1.0


def log_likelihood(model: LastLayer, weights: Float[Tensor, "C D"]) -> float:
    """The log-likelihood of all labels together."""
    return sum(
        model.log_likelihood(model.outputs(model.features[items], weights, items), items).item()
        for items in model.chunks(len(weights))
    )


def evidence(model: LastLayer, weights: Float[Tensor, "C D"], precision: float) -> float:
    """The log marginal likelihood at the mode under a precision."""
    gain = output_gain(model, weights, precision)
    return log_evidence(log_likelihood(model, weights), gain, weights.square().sum().item(), precision)


def by_evidence(model: LastLayer, outputs: int, guess: Guess) -> float:
    """The precision of the highest marginal likelihood, each with a mode of its own, times the guess."""
    return _best(model, outputs, guess, lambda weights, precision: evidence(model, weights, precision))


def by_validation(model: LastLayer, outputs: int, guess: Guess, validation: LastLayer) -> float:
    """The precision whose mode suits the validation labels best, times the guess."""
    return _best(model, outputs, guess, lambda weights, _: log_likelihood(validation, weights))


def left_out(model: LastLayer, weights: Float[Tensor, "C D"], precision: float, *, seed: int) -> Left | None:
    """Every item, or many of them, at the mode of the items of other parts; None of a single item."""
    count = len(model.features)
    folds = min(_FOLDS, count)
    if folds < 2:
        return None
    order = torch.randperm(count, generator=generator(seed, "folds")).to(model.features.device)
    fold, parts, outputs = order % folds, [], []
    for number in range(folds):
        away = fold == number
        seen = mode(model.part(~away), weights, precision, within=_NEAR)
        parts.append(away)
        outputs.append(model.features[away] @ seen.T)
        if sum(map(len, outputs)) >= _ENOUGH:
            break
    every = torch.cat([away.nonzero()[:, 0] for away in parts])
    kept = model.part(every)
    return Left(kept, torch.cat(outputs), kept.features.new_zeros(len(every)), own=True)


def width(
    model: LastLayer, weights: Float[Tensor, "C D"], precision: float, left: Left, *, seed: int
) -> float:
    """The precision of the Gaussian around a mode that predicts the labels left out best, times a guess.

    Never below the mode's own. The covariance is taken as that of kron with independent outputs,
    whatever the form. The guess gives logits a variance of a third where labels say nothing; without
    it labels of which none is wrong ask for no width at all, and twenty of them for any. With it the
    NLL of kron was at most 1.1 % above the mode's on held-out training items of the same four sets.
    """
    bend, along, count = bends(model, weights), model.mean_squares(), len(model.features)
    guess = Guess(_WIDTH[0] * spread(model), nats=_WIDTH[1])

    def score(log_precision: float) -> float:
        at = math.exp(log_precision)
        variance = left.model.features.square() @ (torch.outer(along, bend) + at).reciprocal()
        variance += left.outside[:, None] / at
        if left.own:
            variance /= 1 - bend / count * variance
        return _predicted(left, variance.sqrt(), generator(seed, "width")) + guess.log_density(at)

    return max(precision, math.exp(highest(score, math.log(guess.median), step=_STEP, within=_STEP / 2)))


def _best(model: LastLayer, outputs: int, guess: Guess, score: Callable[[Tensor, float], float]) -> float:
    # From zero, so that the choice does not depend on where training left the layer.
    weights = model.features.new_zeros(outputs, model.features.shape[1], dtype=torch.float64)

    def total(log_precision: float) -> float:
        nonlocal weights
        precision = math.exp(log_precision)
        weights = mode(model, weights, precision, within=_ROUGH)
        return score(weights, precision) + guess.log_density(precision)

    return math.exp(highest(total, math.log(guess.median), step=_STEP, within=_STEP / 2))


def _predicted(left: Left, spread: Float[Tensor, "N C"], rng: torch.Generator) -> float:
    """Log-likelihood of the labels under the mean of drawn predictions, summed."""
    outputs, rest = left.outputs, left.model.rest.double()
    total = 0.0
    step = max(1, _BUDGET // (16 * _PAIRS * (outputs.shape[1] + rest.shape[1])))
    for items in (slice(at, at + step) for at in range(0, len(outputs), step)):
        some = outputs[items].unsqueeze(1)
        noise = torch.randn(len(some), _PAIRS, outputs.shape[1], generator=rng, dtype=torch.float64)
        moved = noise.to(some) * spread[items].unsqueeze(1)
        beside = rest[items].unsqueeze(1).expand(-1, 2 * _PAIRS, -1)
        drawn = torch.cat([torch.cat([some + moved, some - moved], dim=1), beside], dim=2)
        total += left.model.counted(left.model.task.predictive(drawn), items).item()
    return total
