"""Measures are streamed, agree with stored predictions, and refuse what they cannot measure."""

import math

import numpy as np
import pytest
import torch

import askwise as aw
from askwise.bayes.fitted import Fitted
from askwise.errors import InputError


@pytest.fixture(scope="module")
def data() -> tuple[torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(300, 6, generator=rng)
    return x, (x[:, :3] + torch.randn(300, 3, generator=rng)).argmax(dim=1)


@pytest.fixture(scope="module")
def fitted(data) -> Fitted:
    x, y = data
    return aw.fit(aw.nets.mlp(6, 4, hidden=(16,)), (x[:100], y[:100]), training=aw.Training(epochs=10))


def test_measures_are_those_of_stored_predictions(fitted: Fitted, data) -> None:
    x, y = data
    found = aw.evaluate(fitted, data, draws=15, seed=2)
    mean = aw.predict(fitted, x, draws=15, seed=2).mean
    meter = aw.tasks.classification().metrics()
    meter.update(mean, y)
    assert found.pop("nll") == pytest.approx(-mean[torch.arange(300), y].log().mean().item(), rel=1e-6)
    assert found == meter.compute()
    assert found["recall"][3] is None


def test_the_nll_is_of_the_density_averaged_over_draws(fitted: Fitted, data) -> None:
    x, y = data
    log_probs = aw.log_probs(fitted, x, draws=15)
    own = log_probs.exp().mean(dim=1)[torch.arange(300), y]
    assert aw.evaluate(fitted, data, draws=15)["nll"] == pytest.approx(-own.log().mean().item(), rel=1e-5)


def test_mistakes_beyond_the_range_of_floats_are_measured_as_they_are() -> None:
    network = torch.nn.Sequential(torch.nn.Linear(1, 2, bias=False))
    with torch.no_grad():
        network[0].weight.copy_(torch.tensor([[300.0], [0.0]]))
    still = aw.Training(epochs=1, lr=1e-12)
    x, y = torch.ones(4, 1), torch.ones(4, dtype=torch.long)
    sure = aw.fit(network, (x, y), posterior=aw.point(), training=still)
    assert aw.evaluate(sure, (x, y), draws=1)["nll"] == pytest.approx(300, rel=1e-4)


def test_numbers_have_a_likelihood_and_an_error() -> None:
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(200, 2, generator=rng)
    y = x.sum(dim=1)
    task = aw.tasks.regression(tau=1.0)
    fitted = aw.fit(
        aw.nets.mlp(2, 1, hidden=()),
        (x, y),
        posterior=aw.point(),
        task=task,
        training=aw.Training(epochs=200, batch_size=200, lr=2e-2),
    )
    found = aw.evaluate(fitted, (x.numpy(), y.numpy()), draws=1)
    assert found["rmse"] < 0.01
    assert found["log_likelihood"] == pytest.approx(-math.log(2 * math.pi) / 2, abs=1e-3)
    assert found["nll"] == -found["log_likelihood"]


def test_arrays_are_read_where_they_are(fitted: Fitted, data, tmp_path) -> None:
    x, y = data
    np.save(tmp_path / "x.npy", x.numpy())
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert aw.evaluate(fitted, (mapped, y.tolist()), draws=3) == aw.evaluate(fitted, data, draws=3)


def test_what_cannot_be_measured_is_refused(fitted: Fitted, data) -> None:
    x, y = data
    for wrong, match in (
        (x, r"must be a pair \(x, y\) or a torch Dataset"),
        ((x, y[:5]), "differ in length: 300 and 5"),
        ((x[:0], y[:0]), "at least one item"),
        ((x, y + 9), "outside the 4 classes"),
        (({"x": x}, y), "inputs must be a tensor, an array"),
    ):
        with pytest.raises(InputError, match=match):
            aw.evaluate(fitted, wrong)
    blind = aw.fit(
        aw.nets.mlp(6, 4, hidden=()),
        data,
        task=aw.tasks.classification(ignore=3),
        training=aw.Training(epochs=1),
    )
    with pytest.raises(InputError, match="every label is unknown"):
        aw.evaluate(blind, (x, torch.full_like(y, 3)), draws=2)
