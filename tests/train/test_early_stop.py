"""A training with patience ends by validation data, with the best weights it has seen."""

import pytest
import torch
from torch import Tensor, nn

import askwise as aw
from askwise.errors import InputError
from askwise.train import EarlyStop, Plain, Training

POSTERIORS = {
    "point": aw.point(),
    "mc_dropout": aw.mc_dropout(),
    "bbb": aw.bbb(last=1),
    "vogn": aw.vogn(),
    "ivon": aw.ivon(),
    "laplace": aw.laplace(),
    "ensemble": aw.ensemble(2),
    "vbll": aw.vbll(),
}


def noise(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Labels that have nothing to do with the inputs: whatever is learned is overfitted."""
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(count, 6, generator=rng), torch.randint(0, 3, (count,), generator=rng)


def test_the_best_weights_are_restored_and_the_training_ends_after_its_patience() -> None:
    network = nn.Linear(1, 1)
    losses = iter([3.0, 1.0, 2.0, 1.5])
    stop = EarlyStop(
        network,
        Plain([{"params": [*network.parameters()]}], name="sgd", lr=0.1),
        lambda: next(losses),
        patience=2,
    )
    seen = []
    while not stop.over:
        with torch.no_grad():
            network.weight.add_(1.0)
        seen.append((stop.check(), float(network.weight.detach())))
    stop.restore()
    assert [loss for loss, _ in seen] == [3.0, 1.0, 2.0, 1.5]
    assert float(network.weight.detach()) == seen[1][1] != seen[-1][1]


@pytest.mark.parametrize("name", POSTERIORS)
def test_every_posterior_that_can_ends_early_where_it_only_overfits(name: str) -> None:
    network = aw.nets.mlp(6, 3, dropout=0.2)
    how = {"epochs": 60, "lr": 1e-2}
    run = {"posterior": POSTERIORS[name], "validation": noise(200, 1), "start": "scratch"}
    early = aw.fit(network, noise(30, 0), training=Training(**how, patience=3), **run)
    whole = aw.fit(network, noise(30, 0), training=Training(**how), **run)
    assert len(early.history) < 60 == len(whole.history)
    if name in ("point", "mc_dropout"):  # whose own mean is what was watched
        watched = [epoch["validation"] for epoch in early.history]
        assert (
            aw.evaluate(early, noise(200, 1), draws=200)["nll"]
            < aw.evaluate(whole, noise(200, 1), draws=200)["nll"]
        )
        assert watched.index(min(watched)) == len(watched) - 4  # three epochs of patience came after it


def test_the_deviations_of_the_best_epoch_come_back_with_its_means() -> None:
    network = aw.nets.mlp(6, 3)
    how = {"posterior": aw.vogn(), "validation": noise(200, 1), "start": "scratch"}
    early = aw.fit(network, noise(30, 0), training=Training(epochs=60, lr=1e-2, patience=3), **how)
    best = len(early.history) - 3
    # Without a warm-up, whose length follows that of the training, the first epochs are the same.
    short = aw.fit(network, noise(30, 0), training=Training(epochs=best, lr=1e-2), **how)
    assert early.state["step"] == short.state["step"] == best


def test_accuracy_can_be_watched() -> None:
    how = Training(epochs=50, lr=1e-2, patience=2, watch="accuracy")
    fitted = aw.fit(
        aw.nets.mlp(6, 3), noise(30, 0), posterior=aw.point(), training=how, validation=noise(200, 1)
    )
    assert all(0 <= epoch["validation"] <= 1 for epoch in fitted.history)
    assert len(fitted.history) < 50


@pytest.mark.parametrize(
    ("posterior", "options", "validation", "message"),
    [
        (aw.point(), {"patience": 2}, False, "patience needs validation data"),
        (aw.swag(), {"patience": 2}, True, "leave patience out"),
    ],
)
def test_patience_that_cannot_be_had_is_refused(posterior, options, validation, message) -> None:
    held = noise(20, 1) if validation else None
    with pytest.raises(InputError, match=message):
        aw.fit(
            aw.nets.mlp(6, 3),
            noise(30, 0),
            posterior=posterior,
            training=Training(**options),
            validation=held,
        )


def test_accuracy_of_numbers_cannot_be_watched() -> None:
    x, y = torch.randn(20, 4), torch.randn(20, 1)
    how = Training(epochs=2, patience=1, watch="accuracy")
    with pytest.raises(InputError, match="watch='accuracy' needs one class per item"):
        aw.fit(
            aw.nets.mlp(4, 1), (x, y), posterior=aw.point(), task=aw.tasks.regression(tau=1.0),
            training=how, validation=(x, y),
        )  # fmt: skip


def test_validation_labels_are_checked_like_those_that_are_learned() -> None:
    with pytest.raises(InputError, match="outside the 3 classes"):
        aw.fit(aw.nets.mlp(6, 3), noise(30, 0), validation=(torch.zeros(2, 6), torch.tensor([0, 7])))
