"""What the next labels should bring: a forecast, not a guarantee."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from askwise.assess.checks import finite, probabilities, same_length
from askwise.errors import InputError, positive

# Chosen on MNIST, digits, CIFAR-10 and TREC with margin sampling; results/honest.md has how often they
# hold.
WINDOW = 120  # answers looked back on: older ones follow another curve
_EXPONENTS = torch.linspace(0.3, 2.0, 18, dtype=torch.float64)
_SHRUNK = 0.7  # confidence grows faster than accuracy
_LOW, _BELOW, _ABOVE = 0.25, 0.010, 0.012  # the interval: [.25 gain - 1, gain + 1.2] points
_LEAST = 5  # measurements; three numbers are fitted


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """The gain in accuracy (.01 is one point) of the next `ahead` labels, and where it should lie."""

    gain: float
    low: float
    high: float
    ahead: int


def forecast(answers: Sequence[int], confidence: Sequence[int | float], *, ahead: int = 50) -> Forecast:
    """The gain of the next labels, from the pool's mean confidence after each number of answers.

    A power law a - b n^-g is fitted to the last 120 answers: the model's confidence on the pool moves
    smoothly, while the accuracy on a few test answers is too noisy to be continued.

    >>> answers = [20, 40, 60, 80, 100]
    >>> found = aw.assess.forecast(answers, [0.9 - n**-0.5 for n in answers], ahead=50)
    >>> found.low < found.gain < found.high
    True
    """
    positive("ahead", ahead)
    same_length(answers=len(answers), confidence=len(confidence))
    n = torch.tensor(answers, dtype=torch.float64)
    level = probabilities("confidence", torch.tensor(confidence, dtype=torch.float64))
    finite("answers", n)
    if len(n) and (bool((n.diff() <= 0).any()) or n[0] < 1):
        raise InputError("answers must be numbers of training answers from 1 on that grow")
    recent = n >= (n[-1] - WINDOW if len(n) else 0)
    n, level = n[recent], level[recent]
    if len(n) < _LEAST:
        raise InputError(
            f"a forecast needs at least {_LEAST} trainings within the last {WINDOW} answers, not {len(n)}"
        )
    now, then = n[-1], n[-1] + ahead
    falls = -(n.unsqueeze(0) ** -_EXPONENTS.unsqueeze(1))  # [exponents, measurements], growing
    centred, centred_level = falls - falls.mean(dim=1, keepdim=True), level - level.mean()
    slope = (centred @ centred_level / centred.square().sum(dim=1)).clamp(min=0)
    misfit = (centred_level - slope.unsqueeze(1) * centred).square().sum(dim=1)
    best = int(misfit.argmin())
    power = _EXPONENTS[best]
    gain = _SHRUNK * float(slope[best] * (now**-power - then**-power))
    return Forecast(gain=gain, low=_LOW * gain - _BELOW, high=gain + _ABOVE, ahead=ahead)
