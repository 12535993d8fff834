"""Regression: fixed and learned noise, and targets that cannot be learned from."""

import math

import pytest
import torch
from torch import nn

import askwise as aw
from askwise.errors import InputError
from askwise.tasks import regression


def test_the_likelihood_is_that_of_torchs_normal() -> None:
    outputs, labels = torch.randn(7, 3), torch.randn(7, 3)
    normal = torch.distributions.Normal(outputs, 0.25**0.5)
    torch.testing.assert_close(
        regression(tau=4.0).nll(outputs, labels), -normal.log_prob(labels).sum(1).mean()
    )


def test_learned_noise_is_the_second_half_of_the_outputs() -> None:
    outputs, labels = torch.randn(7, 6), torch.randn(7, 3)
    normal = torch.distributions.Normal(outputs[:, :3], (outputs[:, 3:] / 2).exp())
    torch.testing.assert_close(regression().nll(outputs, labels), -normal.log_prob(labels).sum(1).mean())
    moments = regression().predictive(outputs[:, None])
    assert torch.equal(moments[:, 0, :, 0], outputs[:, :3])
    assert torch.equal(moments[:, 0, :, 1], outputs[:, 3:])


def test_a_target_may_have_one_axis_or_two() -> None:
    task, outputs, labels = regression(tau=1.0), torch.randn(5, 1), torch.randn(5)
    assert torch.equal(task.nll(outputs, labels), task.nll(outputs, labels[:, None]))
    found = task.predictive(torch.randn(5, 4, 1))
    assert torch.equal(task.log_likelihood(found, labels), task.log_likelihood(found, labels[:, None]))


def test_the_summary_adds_up() -> None:
    one = regression().summary(torch.randn(6, 5, 2, 2))
    torch.testing.assert_close(one.total, one.epistemic + one.aleatoric)
    assert one.mean.shape == one.total.shape == (6, 2)


@pytest.mark.parametrize("tau", [None, 3.0])
def test_the_curvature_is_the_expected_second_derivative(tau: float | None) -> None:
    task, rng = regression(tau=tau), torch.Generator().manual_seed(0)
    outputs = torch.randn(1, 2, dtype=torch.float64, generator=rng)
    mean, log_variance = task.predictive(outputs[:, None])[0, 0].unbind(dim=-1)
    noise = torch.randn(20_000, len(mean), dtype=torch.float64, generator=rng)
    labels = mean + (log_variance / 2).exp() * noise
    hessian = torch.autograd.functional.hessian(
        lambda o: task.nll(o.expand(len(labels), -1), labels), outputs
    )
    d, u = task.curvature(outputs)
    torch.testing.assert_close(torch.diag(d[0]), hessian[0, :, 0], rtol=0.05, atol=0.05)
    assert not u.any()


@pytest.mark.parametrize(
    ("labels", "shape", "match"),
    [
        (torch.tensor([1.0, torch.nan]), (1,), "target at position 1 is not finite"),
        (torch.tensor([[1.0], [torch.inf]]), (1,), "target at position 1 is not finite"),
        (torch.zeros(4, 3), (2,), "gives 2 numbers per item and should give 3"),
        (torch.zeros(4, 3, 2), (2,), r"real numbers \[N\] or \[N, D\], not \[4, 3, 2\]"),
    ],
)
def test_targets_that_cannot_be_learned_are_refused(labels, shape, match) -> None:
    with pytest.raises(InputError, match=match):
        regression(tau=1.0).labels(labels, shape)


def test_whole_numbers_are_numbers() -> None:
    assert regression(tau=1.0).labels(torch.tensor([1, 2]), (1,)).dtype == torch.float32


def test_learned_noise_needs_outputs_in_pairs() -> None:
    x, y = torch.zeros(4, 3), torch.zeros(4)
    with pytest.raises(InputError, match=r"means and log-variances \[N, 2D\], not \[1, 1\].*homoscedastic"):
        aw.fit(nn.Sequential(nn.Linear(3, 1)), (x, y), task="regression")
    with pytest.raises(InputError, match="gives 4 numbers per item and should give 2"):
        aw.fit(nn.Sequential(nn.Linear(3, 4)), (x, y), task="regression")


@pytest.mark.parametrize("balance", ["weights", "resample"])
def test_there_is_nothing_to_balance(balance: str) -> None:
    with pytest.raises(InputError, match="regression has no classes to balance"):
        aw.fit(
            nn.Sequential(nn.Linear(3, 1)),
            (torch.zeros(4, 3), torch.zeros(4)),
            task=regression(tau=1.0),
            training=aw.Training(balance=balance),
        )


@pytest.mark.parametrize("tau", [0.0, -1.0, math.nan])
def test_a_precision_is_above_zero(tau: float) -> None:
    with pytest.raises(InputError, match="tau"):
        regression(tau=tau)


def test_noise_of_any_kind_is_learned_and_scored_by_numbers() -> None:
    rng = torch.Generator().manual_seed(0)
    x = torch.rand(400, 1, generator=rng) * 4 - 2
    y = 2 * x[:, 0] + (0.1 + 0.4 * (x[:, 0] > 0)) * torch.randn(400, generator=rng)
    fitted = aw.fit(
        aw.nets.mlp(1, 2, hidden=(32,)),
        (x, y),
        posterior=aw.bbb(last=1),
        task="regression",
        training=aw.Training(epochs=300, batch_size=400, lr=2e-2),
    )
    at = torch.tensor([[-1.0], [1.0]])
    noise = aw.predict(fitted, at, draws=20).aleatoric.sqrt().flatten().tolist()
    assert 0.05 < noise[0] < 0.2
    assert 0.3 < noise[1] < 0.8
    moments = aw.moments(fitted, at, draws=20)
    assert moments.shape == (2, 20, 1, 2)
    scores = aw.score_pool(fitted, at, "gaussian_bald", draws=20)
    torch.testing.assert_close(scores, aw.score("gaussian_bald", moments).mean(dim=1))
    with pytest.raises(
        InputError, match="acquisition 'bald' does not serve regression; choose one of: random,"
    ):
        aw.score_pool(fitted, at, "bald")
    with pytest.raises(InputError, match=r"supplies moments, not log_probs; use aw\.moments"):
        aw.log_probs(fitted, at)


def line(scale: float = 1000.0, centre: float = 50_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.linspace(-1, 1, 80)[:, None]
    return x, centre + scale * x


def learned(task, data=None, **options):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = aw.nets.homoscedastic(nn.Sequential(nn.Linear(1, 1)))
    how = aw.Training(epochs=60, lr=0.05, batch_size=20)
    return aw.fit(network, data or line(), posterior=aw.point(), task=task, training=how, **options)


def test_targets_of_any_scale_are_learned_and_given_back_in_their_own_units() -> None:
    fitted = learned("regression")
    x, y = line()
    found = aw.predict(fitted, x)
    assert (found.mean - y).abs().mean() < 100
    assert aw.evaluate(fitted, (x, y))["rmse"] < 150
    assert fitted.task.options["centre"] == pytest.approx([50_000], rel=1e-4)
    assert fitted.task.options["scale"] == pytest.approx([y.std(correction=0).item()], rel=1e-4)


def test_control_without_standardising_they_are_not_and_a_warning_says_so() -> None:
    with pytest.warns(
        aw.tasks.ScaleWarning, match="the targets have mean 5e.04 and deviation 58.*learned as"
    ):
        fitted = learned(regression(standardise=False))
    assert aw.evaluate(fitted, line())["rmse"] > 10_000


def test_units_are_no_part_of_what_is_predicted() -> None:
    """The same targets in other units: predictions, noise and likelihood change with the units alone."""
    x, y = line(scale=2.0, centre=1.0)
    y = y + 0.3 * torch.randn(y.shape, generator=torch.Generator().manual_seed(0))
    small, large = learned("regression", (x, y)), learned("regression", (x, 1000 * y))
    one, other = aw.predict(small, x), aw.predict(large, x)
    torch.testing.assert_close(other.mean, 1000 * one.mean, rtol=1e-3, atol=1.0)
    torch.testing.assert_close(other.aleatoric, 1e6 * one.aleatoric, rtol=1e-2, atol=1.0)
    likely = (
        aw.evaluate(small, (x, y))["log_likelihood"] - aw.evaluate(large, (x, 1000 * y))["log_likelihood"]
    )
    assert likely == pytest.approx(math.log(1000), abs=1e-2)


def test_tau_is_in_the_units_of_the_targets() -> None:
    how = {"posterior": aw.point(), "task": regression(tau=1e-4), "training": aw.Training(epochs=5)}
    fitted = aw.fit(nn.Sequential(nn.Linear(1, 1)), line(), **how)
    found = aw.predict(fitted, line()[0])
    torch.testing.assert_close(found.aleatoric, torch.full_like(found.aleatoric, 1e4))


def test_the_units_are_saved_with_the_model(tmp_path) -> None:
    fitted = learned("regression")
    fitted.save(tmp_path / "model")
    again = aw.load(tmp_path / "model", network=fitted.network)
    assert again.task.options == fitted.task.options
    assert torch.equal(aw.predict(again, line()[0]).mean, aw.predict(fitted, line()[0]).mean)


def test_the_likelihood_in_units_is_that_of_the_targets() -> None:
    task = regression(centre=[10.0, -3.0], scale=[4.0, 0.5])
    outputs, labels = torch.randn(6, 4), torch.randn(6, 2) * 3
    moments = task.predictive(outputs[:, None])
    direct = -task.log_likelihood(moments, labels).sum(dim=1).mean()
    torch.testing.assert_close(task.nll(outputs, labels), direct, rtol=1e-4, atol=1e-4)


def test_constant_targets_and_a_single_one_are_learned_too() -> None:
    for count in (1, 5):
        x = torch.randn(count, 1)
        fitted = learned("regression", (x, torch.full((count, 1), 7.0)))
        assert fitted.task.options["scale"] == [1.0]
        assert (aw.predict(fitted, x).mean - 7).abs().max() < 2


@pytest.mark.parametrize(
    "options", [{"centre": [0.0]}, {"centre": [0.0], "scale": [0.0]}, {"centre": [math.nan], "scale": [1.0]}]
)
def test_units_that_make_no_sense_are_refused(options) -> None:
    with pytest.raises(InputError, match=r"scale|centre"):
        regression(**options)
