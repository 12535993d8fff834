"""The forecast: exact on a power law, and refused where there is nothing to continue."""

import pytest
import torch

from askwise.assess import forecast
from askwise.errors import InputError

AT = list(range(20, 201, 5))


def law(n, power=0.8):
    return 0.9 - 1.5 * n**-power


@pytest.mark.parametrize("power", [0.3, 0.8, 2.0])
def test_a_power_law_is_continued_and_shrunk(power):
    found = forecast(AT, [law(n, power) for n in AT], ahead=50)
    assert found.gain == pytest.approx(0.7 * (law(250, power) - law(200, power)), rel=1e-6)
    assert found.low == pytest.approx(0.25 * found.gain - 0.010)
    assert found.high == pytest.approx(found.gain + 0.012)


def test_only_the_last_120_answers_count():
    old = [0.1 if n < 80 else law(n) for n in AT]
    assert forecast(AT, old).gain == pytest.approx(forecast(AT, [law(n) for n in AT]).gain, rel=1e-3)


def test_a_confidence_that_falls_or_stands_promises_nothing():
    assert forecast(AT, [0.9 - 0.001 * n for n in AT]).gain == 0
    assert forecast(AT, [0.5] * len(AT)).gain == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("answers", "confidence", "message"),
    [
        ([10, 20, 30, 40], [0.5] * 4, "at least 5 trainings within the last 120 answers, not 4"),
        ([], [], "at least 5 trainings within the last 120 answers, not 0"),
        ([10, 20, 20, 30, 40], [0.5] * 5, "numbers of training answers from 1 on that grow"),
        ([10, 20, 30, 40, 50], [0.5] * 4, "the inputs differ in length: 5 answers, 4 confidence"),
        ([10, 20, 30, 40, 50], [0.5] * 4 + [float("nan")], "confidence must be finite"),
        ([10, 20, 30, 40, 50], [0.5] * 4 + [60.0], r"confidence must lie in \[0, 1\]"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(answers, confidence, message):
    with pytest.raises(InputError, match=message):
        forecast(answers, confidence)


def test_the_exponents_are_those_that_were_tried():
    from askwise.assess.forecast import _EXPONENTS

    assert torch.equal(_EXPONENTS[[0, -1]], torch.tensor([0.3, 2.0], dtype=torch.float64))
