"""The epoch loop visits every example once an epoch, in an order that follows its generator."""

import pytest
import torch

from askwise.train import Plain, Training, examples, train


def visits(count: int, batch: int, seed: int, **options: int) -> list[list[int]]:
    weight = torch.nn.Parameter(torch.zeros(1))
    seen: list[list[int]] = []

    def step(inputs: torch.Tensor, labels: torch.Tensor, number: int) -> dict[str, torch.Tensor]:
        seen.append(labels.tolist())
        return {"loss": (weight * inputs.mean()).sum()}

    data = examples((torch.ones(count, 1), torch.arange(count)))
    training = Training(epochs=2, batch_size=batch, **options)
    train(
        step,
        Plain([{"params": [weight]}], name="adam", lr=1e-3),
        data,
        training=training,
        course=training.course(count),
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


def test_the_number_of_steps_is_known_beforehand() -> None:
    for count, batch in [(9, 4), (10, 4), (1, 4), (64, 64)]:
        assert len(visits(count, batch, seed=0)) == Training(epochs=2, batch_size=batch).course(count).steps


def test_few_examples_are_passed_over_several_times_an_epoch() -> None:
    seen = visits(6, 4, seed=0, min_steps=10)  # two epochs of two batches would be four steps
    assert len(seen) == 12  # three passes in each of the two epochs
    for start in range(0, 12, 2):
        assert sorted(seen[start] + seen[start + 1]) == list(range(6))


def test_the_history_is_the_mean_over_examples() -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    data, training = examples((torch.arange(5.0)[:, None], torch.arange(5))), Training(epochs=1, batch_size=3)
    history = train(
        lambda inputs, labels, number: {"loss": inputs.mean() + 0 * weight.sum()},
        Plain([{"params": [weight]}], name="adam", lr=1e-3),
        data,
        training=training,
        course=training.course(5),
        rng=torch.Generator().manual_seed(0),
        device=torch.device("cpu"),
    )
    assert history[0]["loss"] == pytest.approx(2.0)
