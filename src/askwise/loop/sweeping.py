"""Items that the model is sure of, class by class, for a person who confirms many at once."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import normalize

from askwise.bayes.predict import predict
from askwise.loop.models import latest
from askwise.loop.setting import Setting
from askwise.loop.suspects import cross_fitted
from askwise.math.temperature import best_temperature, prior
from askwise.pool.duplicates import alike_features
from askwise.seeding import generator
from askwise.store.labels import class_number

LEAST = 20
"""Labels from which on it can be said how often the model is right."""
MOST = 96
"""Items of one class that are told at a time: four grids."""
_LOOKED_AT = 20_000  # items of the pool that are predicted; of a larger one others each time
_FRESH = 1.1  # the labels may grow by a tenth before it is asked anew how sure the model may be
_ALIKE = 0.97  # the cosine from which on two items are near-duplicates


@dataclass(frozen=True)
class Sweepable:
    """Items that are probably of one class, the most sure first, and the probability that each is."""

    number: int
    ids: list[str]
    sure: list[float]


class Sweeping:
    """What could be swept after each model, with probabilities that can be believed.

    Calibration: five models, each trained on four fifths of the labels, predict the fifth that they have not
    seen. One temperature is chosen for which these predictions suit the labels best (NLL, and the prior of
    `aw.calibrate`), and the shown mean of the whole model is tempered by it. The expected precision of a grid
    is the mean of the tempered probabilities of its items. A model of all labels is a little better than one
    of four fifths, so this errs on the side of too little.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._temperature: tuple[int, float] | None = None  # and of how many labels

    def found(self) -> list[Sweepable]:
        """The items by class; none while there are too few labels, or where labels are no classes."""
        setting = self._setting
        if setting.plan.kind != "classification":
            return []
        setting.refresh()
        labels = {name: class_number(label) for name, label in sorted(setting.ledger.labels.items())}
        number, fitted = latest(setting)
        if fitted is None or len(labels) < LEAST or len(set(labels.values())) < 2:
            return []
        free = self._free(number)
        reading = setting.pool.read(free) if free else None
        if reading is None or not reading.ids:
            return []
        warmth = self._warmth(labels)
        if warmth is None:
            return []
        plan = setting.plan
        shown = predict(
            fitted.shown, reading.inputs, draws=plan.draws, seed=plan.draw_seed(number), engine=setting.engine
        ).mean.cpu()
        sure, guess = _tempered(shown.clamp(min=1e-12).log(), warmth).max(dim=1)
        rows = normalize(reading.inputs.flatten(1).float(), dim=1)
        return [
            _ordered(one, reading.ids, sure, guess, rows)
            for one in sorted({*labels.values()} & {*guess.tolist()})
        ]

    def _free(self, number: int) -> list[str]:
        """The items that have no label and may get one: nothing that is kept for testing."""
        setting = self._setting
        ledger, kept = setting.ledger, setting.testing()
        ready = setting.pool if setting.ready is None else setting.ready
        free = [
            name
            for name in setting.pool.ids
            if name in ready
            and name not in setting.held
            and name not in ledger.labels
            and name not in ledger.skipped
            and name not in ledger.quarantined
            and name not in kept
        ]
        if len(free) <= _LOOKED_AT:
            return free
        rng = generator(setting.plan.seed, "sweep", number)
        return [free[at] for at in torch.randperm(len(free), generator=rng)[:_LOOKED_AT].sort()[0].tolist()]

    def _warmth(self, labels: dict[str, int]) -> float | None:
        """The temperature of the cross-fitted predictions; none if too few labelled items can be read."""
        known = self._temperature
        if known is None or not known[0] / _FRESH <= len(labels) <= known[0] * _FRESH:
            setting = self._setting
            reading = setting.pool.read([name for name in labels if name in setting.pool])
            if len(reading.ids) < LEAST:
                return None
            given = torch.tensor([labels[name] for name in reading.ids])
            held = cross_fitted(setting, reading.ids, reading.inputs, given)
            known = self._temperature = len(labels), temperature(held, given)
        return known[1]


def temperature(log_probs: Float[Tensor, "N C"], labels: Int64[Tensor, " N"]) -> float:
    """The temperature at which predictions of items that were not trained on suit their labels best."""

    def total(at: list[float]) -> list[float]:
        return [
            prior(one) - _tempered(log_probs, one).log().gather(1, labels.unsqueeze(1)).double().sum().item()
            for one in at
        ]

    return best_temperature(lambda at: total(list(at)))


def _tempered(log_probs: Float[Tensor, "N C"], warmth: float) -> Float[Tensor, "N C"]:
    return (log_probs.double() / warmth).softmax(dim=1)


def _ordered(
    number: int, ids: list[str], sure: Tensor, guess: Tensor, rows: Float[Tensor, "N D"]
) -> Sweepable:
    """The items of one class: the most sure first, each followed by its near-duplicates."""
    mine = (guess == number).nonzero().squeeze(1)
    best = mine[sure[mine].argsort(descending=True, stable=True)[:MOST]]
    names = [ids[at] for at in best.tolist()]
    group = {name: some for some in alike_features(names, rows[best], cosine=_ALIKE) for name in some}
    order = list(dict.fromkeys(one for name in names for one in group.get(name, (name,))))
    value = dict(zip(names, sure[best].tolist(), strict=True))
    return Sweepable(number, order, [round(value[name], 4) for name in order])
