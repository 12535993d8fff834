"""Items that the model is sure of, class by class, for a person who confirms many at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import normalize

from askwise.bayes.predict import predict
from askwise.loop.models import latest
from askwise.loop.setting import Setting
from askwise.loop.suspects import cross_fitted
from askwise.math.alike import alike
from askwise.math.temperature import best_temperature, prior
from askwise.pool import Reading
from askwise.pool.duplicates import alike_features
from askwise.seeding import generator, hashes
from askwise.store.labels import class_number

LEAST = 40
"""Labels from which on it can be said how often the model is right."""
MOST = 96
"""Items of one class that are told at a time: four grids."""
_LOOKED_AT = 20_000  # items of the pool that are predicted; of a larger one others each time
_FRESH = 1.1  # the labels may grow by a tenth before it is asked anew how sure the model may be
_COMPARED = 1_000  # labelled items that others are compared with
_LOUD = 4.0  # what the scores of labelled items alike are multiplied by before a temperature is chosen
_PASSES = 3
_ALIKE = 0.97  # the cosine from which on two items are near-duplicates


@dataclass(frozen=True)
class Sweepable:
    """Items that are probably of one class, the most sure first, and the probability that each is."""

    number: int
    ids: list[str]
    sure: list[float]


class Sweeping:
    """What could be swept after each model, with probabilities that can be believed.

    Two opinions are mixed: that of the model, and that of the labelled items alike (`math/alike.py`). The
    model needs few labels; the items alike know better what to make of the last ones of a pool, of which most
    others are labelled by then. How much each counts is calibrated: five models, each trained on four fifths
    of the labels, predict the fifth that they have not seen, the items alike predict each label by all the
    others, and the two temperatures are those for which the mixture suits the labels best (NLL, and the prior
    of `aw.calibrate`). The expected precision of a grid is the mean of the mixed probabilities of its items.
    A model of all labels is a little better than one of four fifths, so this errs on the side of too little.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._temperatures: tuple[int, list[float]] | None = None  # and of how many labels

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
        plan = setting.plan
        known = self._known(labels)
        if known is None:
            return []
        told, given = known
        near, held = alike(
            told.inputs.flatten(1), given, reading.inputs.flatten(1), classes=len(plan.classes)
        )
        warmth = self._warmth(told.ids, told.inputs, given, _LOUD * held)
        shown = predict(
            fitted.shown, reading.inputs, draws=plan.draws, seed=plan.draw_seed(number), engine=setting.engine
        ).mean.cpu()
        sure, guess = _mixed([shown.clamp(min=1e-12).log(), _LOUD * near], warmth).max(dim=1)
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

    def _known(self, labels: dict[str, int]) -> tuple[Reading, Int64[Tensor, " n"]] | None:
        """Labelled items and their classes; none if too few can be read."""
        setting = self._setting
        names = [name for name in labels if name in setting.pool]
        if len(names) > _COMPARED:
            order = hashes(setting.plan.seed, names).argsort(stable=True)[:_COMPARED]
            names = sorted(names[at] for at in order.tolist())
        reading = setting.pool.read(names)
        if len(reading.ids) < LEAST:
            return None
        return reading, torch.tensor([labels[name] for name in reading.ids])

    def _warmth(
        self, ids: list[str], inputs: Tensor, given: Int64[Tensor, " n"], held: Float[Tensor, "n C"]
    ) -> list[float]:
        """The temperatures of the model and of the items alike, by predictions of what they have not seen."""
        count, known = len(self._setting.ledger.labels), self._temperatures
        if known is None or not known[0] / _FRESH <= count <= known[0] * _FRESH:
            parts = [cross_fitted(self._setting, ids, inputs, given), held]
            known = self._temperatures = count, temperatures(parts, given)
        return known[1]


def temperatures(parts: Sequence[Float[Tensor, "N C"]], labels: Int64[Tensor, " N"]) -> list[float]:
    """The temperature of each opinion at which their mixture suits labels that they have not seen best.

    One after the other, three times around.
    """
    found = [1.0] * len(parts)
    for place in [*range(len(parts))] * _PASSES:

        def total(at: Sequence[float], place: int = place) -> list[float]:
            return [
                prior(one)
                - _mixed(parts, [*found[:place], one, *found[place + 1 :]])
                .log()
                .gather(1, labels.unsqueeze(1))
                .sum()
                .item()
                for one in at
            ]

        found[place] = best_temperature(total)
    return found


def _mixed(parts: Sequence[Float[Tensor, "N C"]], warmth: Sequence[float]) -> Float[Tensor, "N C"]:
    """Probabilities of the product of opinions, each at its temperature."""
    tempered = [one.double() / at for one, at in zip(parts, warmth, strict=True)]
    return torch.stack(tempered).sum(dim=0).softmax(dim=1).clamp(min=1e-12)


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
