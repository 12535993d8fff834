"""Imbalance: weights and resampling bring back a rare class, and the draw is the seed's."""

import pytest
import torch
from torch import Tensor

import askwise as aw


def rare(count: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Two clouds that overlap; one in twenty is of the second."""
    rng = torch.Generator().manual_seed(seed)
    labels = (torch.rand(count, generator=rng) < 0.05).long()
    return torch.randn(count, 2, generator=rng) + 1.5 * labels[:, None], labels


def fitted(balance: str | None, *, seed: int = 0, epochs: int = 30) -> aw.Fitted:
    how = aw.Training(epochs=epochs, lr=1e-2, balance=balance)
    network = aw.nets.mlp(2, 3, hidden=())  # the third class is never seen
    return aw.fit(network, rare(400), posterior=aw.point(), training=how, start="scratch", seed=seed)


@pytest.mark.parametrize("balance", ["weights", "resample"])
def test_a_rare_class_is_found_again(balance: str) -> None:
    test = rare(2000, seed=1)
    plain, balanced = (aw.evaluate(fitted(kind), test)["recall"] for kind in (None, balance))
    assert plain[1] < 0.5
    assert balanced[1] > plain[1] + 0.25
    assert balanced[2] is None  # a class that is never seen is learned as such, and divides nothing by zero


def test_resampling_follows_the_seed() -> None:
    one, again, other = (fitted("resample", seed=seed, epochs=1).digest() for seed in (0, 0, 1))
    assert one == again != other


def test_weights_leave_even_classes_as_they_are() -> None:
    x, y = torch.randn(30, 2), torch.arange(30) % 3
    network = aw.nets.mlp(2, 3, hidden=())
    found = [
        aw.fit(network, (x, y), posterior=aw.point(), training=aw.Training(epochs=2, balance=kind))
        for kind in (None, "weights")
    ]
    torch.testing.assert_close(found[0].network[-1].weight, found[1].network[-1].weight)


def test_tags_are_resampled_by_the_rarest() -> None:
    x, y = rare(400)
    tags = torch.stack([1 - y, y], dim=1)
    how = aw.Training(epochs=30, lr=1e-2, balance="resample")
    network = aw.nets.mlp(2, 2, hidden=())
    plain = aw.fit(
        network, (x, tags), posterior=aw.point(), task="multilabel", training=aw.Training(epochs=30, lr=1e-2)
    )
    balanced = aw.fit(network, (x, tags), posterior=aw.point(), task="multilabel", training=how)
    assert aw.evaluate(balanced, (x, tags))["recall"][1] > aw.evaluate(plain, (x, tags))["recall"][1] + 0.25
