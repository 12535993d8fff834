"""IVON's posterior is the exact mean-field one where that is known, and its curvature leaves its start."""

import pytest
import torch
from linear_gaussian import LinearGaussian, fifty_units, linear_gaussian, small_network, three_clouds

import askwise as aw
from askwise.errors import InputError
from askwise.train import Training


def off(known: LinearGaussian, **options) -> tuple[float, float]:
    """How far deviations (as a ratio - 1) and means (in deviations) are from the mean-field optimum."""
    training = Training(epochs=500, lr=1e-2, batch_size=200)  # 500 steps
    return known.trained_off(aw.ivon(kl_weight=1.0, prior_std=known.prior_std, **options), training)


def test_an_ordinary_training_ends_at_the_mean_field_optimum_of_linear_regression() -> None:
    known = linear_gaussian(bias=True)
    deviations, means = off(known)
    assert deviations < 0.1
    assert means < 0.5
    # The control: the authors' average stays where it starts.
    assert off(known, betas=(0.9, 0.99999))[0] > 0.2
    # The exact posterior is wider by more than what is allowed here, so the check is not empty.
    assert (known.std > 1.1 * known.mean_field_std)[:3].all()


@pytest.mark.slow
def test_its_steps_suit_a_training_with_a_large_learning_rate() -> None:
    x = torch.linspace(-2, 2, 200)[:, None]
    y = (3 * x).sin() + 0.05 * torch.randn(200, 1, generator=torch.Generator().manual_seed(0))

    def rmse(config) -> float:
        fitted = fifty_units((x, y), config, tau=400.0, epochs=150)
        return aw.evaluate(fitted, (x, y), draws=50)["rmse"]

    found, beyond_newton = (
        rmse(aw.ivon(kl_weight=1.0, prior_std=1.0, **lr)) for lr in ({}, {"lr": 100.0, "reach": 300.0})
    )
    assert found < 1.5 * rmse(aw.bbb(all=True))
    assert beyond_newton > 1.5 * found  # the control: steps that are too long


def test_four_hundred_steps_take_the_curvature_far_from_its_start() -> None:
    posterior = aw.ivon()
    fitted = aw.fit(small_network(), three_clouds(), posterior=posterior, training=Training(epochs=400))
    assert int(fitted.state["step"]) == 400
    hess = torch.cat([v.flatten() for k, v in fitted.state.items() if k.endswith(".hess")])
    std = torch.cat([v.flatten() for k, v in fitted.state.items() if k.startswith("std.")])
    count = 60 / posterior.kl_weight
    still = (count * (posterior.hess_init + 1 / (count * posterior.prior_std**2))) ** -0.5
    assert hess.median() < posterior.hess_init / 2
    assert std.median() > 1.3 * still
    assert std.max() / std.min() > 2  # and each weight has a deviation of its own


def test_with_the_authors_beta_the_curvature_stays_where_it_starts() -> None:
    fitted = aw.fit(
        small_network(),
        three_clouds(),
        posterior=aw.ivon(betas=(0.9, 0.99999)),
        training=Training(epochs=400),
    )
    hess = fitted.state["optimizer.dense1.weight.hess"]
    torch.testing.assert_close(hess, torch.full_like(hess, 0.1), rtol=0.02, atol=0)


def test_a_step_reaches_no_farther_than_asked() -> None:
    own = small_network()
    for reach in (3.0, 0.5):
        posterior = aw.ivon(reach=reach, lr=1e6)
        fitted = aw.fit(own, three_clouds(), posterior=posterior, training=Training(epochs=1, lr=0.01))
        moved = (fitted.network.dense1.weight - own.dense1.weight).abs().max()
        assert float(moved.detach()) == pytest.approx(reach * 0.01, rel=1e-3)


@pytest.mark.slow
def test_it_is_as_accurate_as_point() -> None:
    x, y = three_clouds(90)
    found = {}
    for posterior in (aw.point(), aw.ivon()):
        fitted = aw.fit(small_network(), (x[:60], y[:60]), posterior=posterior)
        found[posterior.name] = (aw.predict(fitted, x[60:]).mean.argmax(-1) == y[60:]).float().mean()
    assert found["ivon"] >= found["point"] - 0.07  # two items of thirty


def test_epistemic_uncertainty_is_larger_far_from_the_data() -> None:
    x, y = three_clouds()
    fitted = aw.fit(small_network(), (x, y), posterior=aw.ivon(kl_weight=0.1), training=Training(epochs=100))
    near = aw.predict(fitted, x).epistemic.mean()
    assert aw.predict(fitted, 10 * x.flip(1)).epistemic.mean() > 2 * near


def test_every_called_layer_is_gaussian_by_default_biases_too() -> None:
    assert aw.ivon() == aw.ivon(all=True)
    fitted = aw.fit(small_network(), three_clouds(), posterior=aw.ivon(), training=Training(epochs=1))
    names = {key.removeprefix("std.") for key in fitted.state if key.startswith("std.")}
    assert names == {"dense1.weight", "dense1.bias", "dense2.weight", "dense2.bias"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"last": 1, "all": True}, "ivon takes one placement, not last and all"),
        ({"kl_weight": 0.0}, "kl_weight must be above 0"),
        ({"betas": (0.9,)}, "betas are two numbers"),
        ({"lr": -1.0}, "lr must be"),
        ({"reach": 0.0}, "reach must be above 0"),
        ({"samples": 0}, "samples must be"),
    ],
)
def test_options_outside_their_range_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        aw.ivon(**options)
