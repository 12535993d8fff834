"""VOGN's posterior is the exact mean-field one where that is known."""

import pytest
import torch
from linear_gaussian import LinearGaussian, linear_gaussian, small_network, three_clouds
from torch import Tensor, nn

import askwise as aw
from askwise.errors import InputError
from askwise.train import Training


def off(known: LinearGaussian, **options) -> tuple[float, float]:
    """How far deviations (as a ratio - 1) and means (in deviations) are from the mean-field optimum."""
    training = Training(epochs=125, lr=1e-2, batch_size=100)  # 250 steps
    return known.trained_off(aw.vogn(kl_weight=1.0, prior_std=known.prior_std, **options), training)


def test_an_ordinary_training_ends_at_the_mean_field_optimum_of_linear_regression() -> None:
    known = linear_gaussian(tau=100.0, bias=True)
    deviations, means = off(known)
    assert deviations < 0.1
    assert means < 0.5
    # The control: squares for curvature, and an average that remembers the whole training.
    assert off(known, curvature="squares", betas=(0.9, 0.999))[0] > 0.2
    # The exact posterior is wider by more than what is allowed here, so the check is not empty.
    assert (known.std > 1.1 * known.mean_field_std)[:3].all()


def test_augmentation_and_tempering_scale_the_number_of_labels() -> None:
    def deviations(**options: float) -> Tensor:
        posterior = aw.vogn(prior_std=1e5, **options)
        fitted = aw.fit(small_network(), three_clouds(), posterior=posterior, training=Training(epochs=1))
        return fitted.state["std.dense2.weight"]

    plain = deviations(kl_weight=1.0)
    torch.testing.assert_close(deviations(kl_weight=1.0, augmentation=4.0), plain / 2, rtol=1e-3, atol=0)
    torch.testing.assert_close(deviations(kl_weight=0.01), plain / 10, rtol=1e-3, atol=0)


def test_the_damping_is_not_in_the_deviations() -> None:
    found = []
    for damping in (1e-3, 10.0):
        posterior = aw.vogn(damping=damping)
        fitted = aw.fit(
            small_network(), three_clouds(), posterior=posterior, training=Training(epochs=1, lr=1e-9)
        )
        found.append(fitted.state["std.dense1.weight"])
    torch.testing.assert_close(found[0], found[1], rtol=1e-4, atol=0)


@pytest.mark.slow
def test_it_is_as_accurate_as_point() -> None:
    x, y = three_clouds(90)
    found = {}
    for posterior in (aw.point(), aw.vogn()):
        fitted = aw.fit(small_network(), (x[:60], y[:60]), posterior=posterior)
        found[posterior.name] = (aw.predict(fitted, x[60:]).mean.argmax(-1) == y[60:]).float().mean()
    assert found["vogn"] >= found["point"] - 0.07  # two items of thirty


def test_batch_norm_is_deterministic_and_learns() -> None:
    own = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    fitted = aw.fit(own, three_clouds(), posterior=aw.vogn(), training=Training(epochs=3))
    assert not any(key.startswith("std.1.") for key in fitted.state)
    assert "optimizer.1.weight.exp_avg" in fitted.state
    assert not torch.equal(fitted.network[1].weight, own[1].weight)


def test_attention_learns_with_its_output_layer_deterministic() -> None:
    from zoo import CASES

    case = CASES["attention"]
    x = case.inputs(12)
    fitted = aw.fit(
        case.network(), (x, torch.arange(12) % 3), posterior=aw.vogn(), training=Training(epochs=1)
    )
    assert {key for key in fitted.state if key.startswith("std.")} == {"std.head.weight", "std.head.bias"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"first": 1, "layers": ["dense1"]}, "vogn takes one placement, not first and layers"),
        ({"prior_std": -1.0}, "prior_std must be"),
        ({"damping": -1.0}, "damping must be"),
        ({"warm_up": float("inf")}, "warm_up must be"),
        ({"curvature": "hessian"}, "unknown curvature 'hessian'"),
        ({"noise": "flip"}, "unknown noise 'flip'; did you mean 'flipout'"),
        ({"augmentation": 0.0}, "augmentation must be above 0"),
    ],
)
def test_options_outside_their_range_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        aw.vogn(**options)
