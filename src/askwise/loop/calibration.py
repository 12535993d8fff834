"""How sure the model that is handed over may be: a temperature, by answers that it never learned from.

The trained model chooses the questions and meets the test answers as it is. What is shown, exported and
certified is the same model with this temperature. It was chosen on the test answers, so nothing that is
promised by them may rest on the tempered probabilities; and it changes no predicted class or tag, so what
is promised of these holds for both.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from askwise.bayes.calibrate import calibrate
from askwise.bayes.fitted import Fitted
from askwise.loop.setting import Setting
from askwise.store.facts import Round

CALIBRATION = "calibration"
"""Where a round notes the temperature of its model."""
LEAST = 10
"""Test answers from which on they are taken for a temperature; the band is shown from as many on."""
TEST_ANSWERS, VALIDATION_LABELS = "test answers", "validation labels"


@dataclass(frozen=True)
class Tempered:
    """The temperature of a model that is handed over, and how many labels it rests on."""

    temperature: float
    labels: int
    by: str
    """What these labels are: test answers, or validation labels."""

    def __str__(self) -> str:
        """A sentence's worth of it."""
        return f"probabilities are tempered by {self.temperature:.3f}, chosen on {self.labels:,} {self.by}"


def calibration(setting: Setting, fitted: Fitted, number: int, *, seen: int) -> Tempered | None:
    """The temperature of a new model, by the test answers up to a revision; none where nothing may choose it.

    Validation data have chosen it already, where there are any. Test answers choose only what changes no
    class and no tag: the temperature of one network, and of one item's classes, or of tags that are cut at
    one half. Under several draws it acts before the mean is taken, and another class may come out.
    """
    plan = setting.plan
    if plan.calibrate is False or plan.kind not in ("classification", "multilabel", "segmentation"):
        return None
    if (held := setting.measured.get("validation")) is not None:
        return Tempered(fitted.temperature, len(held.labels), VALIDATION_LABELS)
    testing = setting.testing()
    moves = fitted.shown.posterior.name != "point" or plan.task.get("threshold", 0.5) != 0.5
    if not testing.on or plan.kind == "segmentation" or moves:
        return None
    known = {one.id: one.label for one in testing.tested_at(seen) if one.label is not None}
    reading = setting.pool.read([name for name in known if name in setting.pool])
    if len(reading.ids) < LEAST:
        return None
    labels = setting.rows(known[name] for name in reading.ids)
    found = calibrate(fitted, (reading.inputs, labels), draws=1, seed=plan.draw_seed(number))
    return Tempered(found.temperature, len(reading.ids), TEST_ANSWERS)


def noted(past: Round) -> Tempered | None:
    """What a round noted of its model's temperature; none if it noted nothing."""
    found: Mapping[str, Any] | None = past.metrics.get(CALIBRATION)
    return None if found is None else Tempered(**found)


def note(found: Tempered | None) -> dict[str, Any]:
    """It as a round keeps it among what was measured."""
    return {} if found is None else {CALIBRATION: asdict(found)}


def with_temperature(fitted: Fitted, found: Tempered | None) -> Fitted:
    """The model as it is handed over."""
    return fitted if found is None else replace(fitted, temperature=found.temperature)
