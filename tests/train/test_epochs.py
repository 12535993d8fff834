"""The epoch loop visits every example once an epoch, in an order that follows its generator."""

import pytest
import torch

from askwise.errors import InputError
from askwise.train import Adam, Training, examples, train
from askwise.train.epochs import _sizes


def visits(count: int, batch: int, seed: int) -> list[list[int]]:
    weight = torch.nn.Parameter(torch.zeros(1))
    seen: list[list[int]] = []

    def step(inputs: torch.Tensor, labels: torch.Tensor, number: int) -> dict[str, torch.Tensor]:
        seen.append(labels.tolist())
        return {"loss": (weight * inputs.mean()).sum()}

    data = examples((torch.ones(count, 1), torch.arange(count)))
    train(
        step,
        Adam([weight], lr=1e-3),
        data,
        training=Training(epochs=2, batch=batch),
        rng=torch.Generator().manual_seed(seed),
        device=torch.device("cpu"),
    )
    return seen


def test_every_example_is_seen_once_an_epoch() -> None:
    seen = visits(10, 4, seed=0)
    assert [len(batch) for batch in seen] == [4, 3, 3, 4, 3, 3]
    first, second = [*seen[0], *seen[1], *seen[2]], [*seen[3], *seen[4], *seen[5]]
    assert sorted(first) == list(range(10))
    assert first != second


def test_the_order_follows_the_generator() -> None:
    assert visits(10, 4, seed=0) == visits(10, 4, seed=0) != visits(10, 4, seed=1)


def test_batches_are_even_and_none_is_larger_than_asked() -> None:
    assert _sizes(130, 64) == [44, 43, 43]  # and not 64, 64, 2
    assert _sizes(9, 4) == [3, 3, 3]
    assert _sizes(1, 4) == [1]
    assert _sizes(8, 4) == [4, 4]


@pytest.mark.parametrize(("count", "batch"), [(9, 4), (10, 4), (1, 4), (64, 64)])
def test_the_number_of_steps_is_known_beforehand(count: int, batch: int) -> None:
    assert len(visits(count, batch, seed=0)) == Training(epochs=2, batch=batch).steps(count)


def test_the_history_is_the_mean_over_examples() -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    data = examples((torch.arange(5.0)[:, None], torch.arange(5)))
    history = train(
        lambda inputs, labels, number: {"loss": inputs.mean() + 0 * weight.sum()},
        Adam([weight], lr=1e-3),
        data,
        training=Training(epochs=1, batch=3),
        rng=torch.Generator().manual_seed(0),
        device=torch.device("cpu"),
    )
    assert history[0]["loss"] == pytest.approx(2.0)


@pytest.mark.parametrize("lr", [0.0, -1.0, float("nan")])
def test_a_step_size_must_be_above_zero(lr: float) -> None:
    with pytest.raises(InputError, match="lr must be above 0"):
        Training(lr=lr)
