"""Each kind of training noise has the mean and variance it should, and whole draws agree with it."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from askwise.bayes.posteriors.bayes_layer import BayesLayer, std_of
from askwise.math import gaussian

LAYERS = {
    "linear": (lambda: nn.Linear(5, 4), (5,)),
    "linear on sequences": (lambda: nn.Linear(5, 4), (3, 5)),
    "conv1d": (lambda: nn.Conv1d(3, 4, 3, padding=1), (3, 6)),
    "conv2d": (lambda: nn.Conv2d(4, 4, 2, stride=2, groups=2), (4, 4, 4)),
    "conv3d": (lambda: nn.Conv3d(2, 4, 2, dilation=1), (2, 3, 3, 3)),
}


def bayes(layer: nn.Module, noise: str, *, std: float = 0.5, bias: bool = True, seed: int = 0) -> BayesLayer:
    rho = math.log(math.expm1(std))
    rhos = {k: torch.full_like(p, rho).detach() for k, p in layer.named_parameters() if bias or k == "weight"}
    rng = torch.Generator().manual_seed(seed)
    return BayesLayer(layer, rhos=rhos, noise=noise, scale="softplus", rng=rng)


def apply(layer: nn.Module, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    plain = type(layer)
    function = {nn.Linear: F.linear, nn.Conv1d: F.conv1d, nn.Conv2d: F.conv2d, nn.Conv3d: F.conv3d}[plain]
    options = {k: getattr(layer, k) for k in ("stride", "padding", "dilation", "groups") if hasattr(layer, k)}
    return function(x, weight, bias, **options)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("noise", ["local", "flipout", "sample"])
@pytest.mark.parametrize("bias", [True, False])
def test_outputs_have_the_mean_and_variance_of_the_weights(kind: str, noise: str, bias: bool) -> None:
    build, item = LAYERS[kind]
    torch_rng = torch.Generator().manual_seed(1)
    layer = build()
    x = torch.randn(1, *item, generator=torch_rng)
    own = bayes(layer, noise, bias=bias)
    with torch.no_grad():
        # Few items a pass: under flipout those of one batch share the size of their noise.
        many = torch.cat([own(x) for _ in range(4000)])
        mean = layer(x)
        variance = apply(
            layer,
            x.square(),
            torch.full_like(layer.weight, 0.25),
            torch.full_like(layer.bias, 0.25) if bias else None,
        )
    assert (many.mean(0) - mean[0]).abs().max() < 0.12 * variance.sqrt().max()
    torch.testing.assert_close(many.var(0), variance[0], rtol=0.2, atol=0.02)


def test_flipout_decorrelates_the_items_of_a_batch_and_sampling_does_not() -> None:
    layer, x = nn.Linear(5, 4), torch.ones(2, 5)
    correlations = {}
    for noise in ("flipout", "local", "sample"):
        own = bayes(layer, noise)
        with torch.no_grad():
            pairs = torch.stack([own(x) for _ in range(3000)])[:, :, 0]
        correlations[noise] = torch.corrcoef(pairs.T)[0, 1].abs().item()
    assert correlations["flipout"] < 0.08
    assert correlations["local"] < 0.08
    assert correlations["sample"] > 0.99


def test_a_replicated_image_under_one_draw_would_show_no_uncertainty() -> None:
    """The trap of public code: T copies of an image in one batch share one weight sample."""
    own, x = bayes(nn.Linear(5, 4), "sample"), torch.randn(1, 5)
    with torch.no_grad():
        copies = own(x.expand(50, 5))
        draws = torch.cat([own(x) for _ in range(50)])
    assert copies.std(0).max() < 1e-6
    assert draws.std(0).min() > 0.1


@pytest.mark.parametrize("noise", ["local", "flipout", "sample"])
def test_the_same_generator_gives_the_same_noise(noise: str) -> None:
    layer, x = nn.Linear(5, 4), torch.randn(3, 5)
    state = torch.get_rng_state()
    assert torch.equal(bayes(layer, noise)(x), bayes(layer, noise)(x))
    assert not torch.equal(bayes(layer, noise)(x), bayes(layer, noise, seed=1)(x))
    assert torch.equal(torch.get_rng_state(), state)


def test_the_sampled_divergence_averages_to_the_closed_form() -> None:
    own = bayes(nn.Linear(30, 20), "local", std=0.3)
    with torch.no_grad():
        sampled = torch.stack([own.sampled_kl(0.7) for _ in range(300)])
    assert abs(sampled.mean() - own.kl(0.7)) < 4 * sampled.std() / math.sqrt(300)
    assert sampled.std() > 0


def test_the_divergence_is_a_sum_over_all_weights_with_q_first() -> None:
    own = bayes(nn.Linear(3, 2), "local", std=0.5, bias=False)
    by_hand = sum(
        math.log(2.0 / 0.5) + (0.5**2 + m**2) / (2 * 2.0**2) - 0.5
        for m in own.means["weight"].flatten().tolist()
    )
    reversed_kl = sum(
        math.log(0.5 / 2.0) + (2.0**2 + m**2) / (2 * 0.5**2) - 0.5
        for m in own.means["weight"].flatten().tolist()
    )
    assert own.kl(2.0).item() == pytest.approx(by_hand, rel=1e-5)
    assert own.kl(2.0).item() != pytest.approx(reversed_kl, rel=0.1)  # KL(p||q), a peer's mistake
    assert own.kl(2.0).item() != pytest.approx(by_hand / 6, rel=0.1)  # the mean, another's


def test_alpha_scale_makes_the_variance_proportional_to_the_squared_mean() -> None:
    mean, rho = torch.tensor([-2.0, 1.0, 0.5]), torch.zeros(3)
    variance = std_of(mean, rho, "alpha").square()
    torch.testing.assert_close(variance / mean.square(), torch.full((3,), math.log(2) ** 2))


def test_gradients_reach_means_and_scales() -> None:
    for noise in ("local", "flipout", "sample"):
        own = bayes(nn.Conv2d(2, 3, 2), noise)
        (own(torch.randn(2, 2, 4, 4)).square().sum() + own.kl(1.0)).backward()
        for p in own.parameters():
            assert p.grad is not None
            assert p.grad.abs().sum() > 0


def test_the_kl_formula_lives_in_one_place() -> None:
    own = bayes(nn.Linear(4, 2), "local", bias=False)
    assert torch.equal(own.kl(1.5), gaussian.kl(own.means["weight"], own.std("weight"), 1.5))
