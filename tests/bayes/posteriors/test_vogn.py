"""VOGN's posterior is the exact mean-field one where that is known."""

import pytest
import torch
from linear_gaussian import linear_gaussian
from torch import Tensor, nn

import askwise as aw
from askwise.errors import InputError
from askwise.train import Training


def data(count: int = 60) -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(0)
    y = torch.arange(count) % 3
    return torch.randn(count, 6, generator=rng) + 2 * torch.nn.functional.one_hot(y, 6), y


def network() -> torch.nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return aw.nets.mlp(6, 3, hidden=(16,))


def test_it_finds_the_mean_field_posterior_of_linear_regression() -> None:
    # Squared gradients stand for the curvature only on average, over the noise of many items.
    known = linear_gaussian(count=1000, bias=True)
    fitted = aw.fit(
        known.network(),
        known.data,
        posterior=aw.vogn(kl_weight=1.0, prior_std=1.0, betas=(0.9, 0.98), warm_up=0.1),
        task=aw.tasks.regression(tau=known.tau),
        training=Training(epochs=200, batch=250, lr=3e-3),
    )
    for name, mean in known.parts(known.mean).items():
        torch.testing.assert_close(fitted.network.get_parameter(name).detach(), mean, rtol=0.15, atol=0)
    for name, std in known.parts(known.mean_field_std).items():
        torch.testing.assert_close(fitted.state[f"std.{name}"] ** 2, std**2, rtol=0.15, atol=0)
    # The exact posterior is wider by more than what is allowed here, so the check is not empty.
    assert (known.std**2 > 1.2 * known.mean_field_std**2)[:3].all()


def test_augmentation_and_tempering_scale_the_number_of_labels() -> None:
    def deviations(**options: float) -> Tensor:
        posterior = aw.vogn(prior_std=1e3, **options)
        fitted = aw.fit(network(), data(), posterior=posterior, training=Training(epochs=1))
        return fitted.state["std.dense2.weight"]

    plain = deviations(kl_weight=1.0)
    torch.testing.assert_close(deviations(kl_weight=1.0, augmentation=4.0), plain / 2, rtol=1e-3, atol=0)
    torch.testing.assert_close(deviations(kl_weight=0.01), plain / 10, rtol=1e-3, atol=0)


def test_the_damping_is_not_in_the_deviations() -> None:
    found = []
    for damping in (1e-3, 10.0):
        posterior = aw.vogn(damping=damping)
        fitted = aw.fit(network(), data(), posterior=posterior, training=Training(epochs=1, lr=1e-9))
        found.append(fitted.state["std.dense1.weight"])
    torch.testing.assert_close(found[0], found[1], rtol=1e-4, atol=0)


def test_it_is_as_accurate_as_point() -> None:
    x, y = data(90)
    found = {}
    for posterior in (aw.point(), aw.vogn()):
        fitted = aw.fit(network(), (x[:60], y[:60]), posterior=posterior)
        found[posterior.name] = (aw.predict(fitted, x[60:]).mean.argmax(-1) == y[60:]).float().mean()
    assert found["vogn"] >= found["point"] - 0.07  # two items of thirty


def test_batch_norm_is_deterministic_and_learns() -> None:
    own = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    fitted = aw.fit(own, data(), posterior=aw.vogn(), training=Training(epochs=3))
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
        ({"augmentation": 0.0}, "augmentation must be above 0"),
    ],
)
def test_options_outside_their_range_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        aw.vogn(**options)
