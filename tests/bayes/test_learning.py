"""The learning rates that are not the training's own."""

import pytest
import torch

from askwise.bayes.learning import TrainingJob
from askwise.tasks import classification
from askwise.train import Training, examples


def job(steps: int, lr: float) -> TrainingJob:
    data = examples((torch.zeros(64, 2), torch.zeros(64, dtype=torch.long)))
    return TrainingJob(data, classification(), Training(min_steps=steps, lr=lr), 0, torch.device("cpu"))


@pytest.mark.parametrize(
    ("steps", "lr", "rate"),
    [
        (500, 3e-3, 0.06),  # 15 nats along a cosine: half of steps times rate
        (100, 3e-3, 0.1),  # no faster than this
        (500, 1e-6, 1e-4),  # nor than a hundred times the weights'
        (20_000, 3e-3, 9e-3),  # where the distance asks for less, three times the weights'
        (20_000, 2e-2, 0.03),
        (20_000, 5e-2, 5e-2),  # and never below the weights'
    ],
)
def test_widths_cross_their_range_and_stay_ahead_of_the_means(steps: int, lr: float, rate: float) -> None:
    assert job(steps, lr).width_rate == pytest.approx(rate)


def test_the_means_of_a_head_learn_no_faster_than_they_must() -> None:
    assert job(500, 3e-3).head_rate == pytest.approx(0.1)
    assert job(20_000, 3e-3).head_rate == pytest.approx(3e-3)  # the control: widths alone stay ahead
