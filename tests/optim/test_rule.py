"""The rule's other members are the optimizers they are said to be."""

import pytest
import torch
from torch import Tensor, nn

from askwise.errors import InputError
from askwise.optim.rule import Bernoulli, UnitGaussian


def data() -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(0)
    return torch.randn(20, 4, generator=rng), torch.randint(3, (20,), generator=rng)


def network() -> nn.Module:
    rng = torch.Generator().manual_seed(1)
    own = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
    with torch.no_grad():
        for p in own.parameters():
            p.normal_(std=0.3, generator=rng)
    return own


def learn(own: nn.Module, optimizer: UnitGaussian | Bernoulli, steps: int) -> None:
    x, y = data()
    for _ in range(steps):
        for _ in range(optimizer.samples):
            with optimizer.sampling():
                nn.functional.cross_entropy(own(x), y).backward()
        optimizer.step()


def test_a_unit_gaussian_with_its_expectation_at_the_mean_is_gradient_descent() -> None:
    ours, plain = network(), network()
    learn(ours, UnitGaussian(ours.parameters(), lr=0.1), steps=20)
    descent, (x, y) = torch.optim.SGD(plain.parameters(), lr=0.1), data()
    for _ in range(20):
        descent.zero_grad()
        nn.functional.cross_entropy(plain(x), y).backward()
        descent.step()
    for a, b in zip(ours.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-7)


def test_a_unit_gaussian_with_noise_descends_the_expected_loss() -> None:
    """On w^4 the gradient of the expectation under N(m, 1) is 4 m^3 + 12 m, and not 4 m^3."""
    weight = nn.Parameter(torch.full((4000,), 0.5))
    optimizer = UnitGaussian([weight], lr=0.01, rng=torch.Generator().manual_seed(0), samples=20)
    for _ in range(20):
        with optimizer.sampling():
            weight.pow(4).sum().backward()
    optimizer.step()
    moved = (0.5 - weight.detach()).mean() / 0.01
    assert float(moved) == pytest.approx(4 * 0.5**3 + 12 * 0.5, rel=0.03)


class Straight(torch.autograd.Function):
    """The sign forward, the identity backward: the estimator as everybody writes it."""

    @staticmethod
    def forward(ctx, latent: Tensor) -> Tensor:
        return torch.where(latent >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        return gradient


@pytest.mark.parametrize("count", [float("inf"), 50])
def test_bernoulli_with_its_expectation_at_the_likelier_signs_is_the_straight_through_estimator(
    count: float,
) -> None:
    ours, plain, (x, y) = network(), network(), data()
    optimizer = Bernoulli(ours.parameters(), lr=0.05, count=count)
    learn(ours, optimizer, steps=30)
    latents = [p.detach().clone().requires_grad_() for p in plain.parameters()]
    descent = torch.optim.SGD(latents, lr=0.05, weight_decay=1 / count)
    names = [name for name, _ in plain.named_parameters()]
    for _ in range(30):
        descent.zero_grad()
        signs = {name: Straight.apply(latent) for name, latent in zip(names, latents, strict=True)}
        nn.functional.cross_entropy(torch.func.functional_call(plain, signs, (x,)), y).backward()
        descent.step()
    for p, latent in zip(ours.parameters(), latents, strict=True):
        torch.testing.assert_close(optimizer.state[p]["natural"], latent.detach(), rtol=1e-5, atol=1e-6)
        assert torch.equal(p.detach(), torch.where(latent >= 0, 1.0, -1.0))


def test_relaxed_weights_estimate_the_gradient_of_the_expectation() -> None:
    """The expectation of c w is c mean, whose gradient with respect to the mean is c, at any lambda."""
    start = torch.linspace(-1.5, 1.5, 7)
    weight = nn.Parameter(start.repeat(20_000, 1))
    optimizer = Bernoulli([weight], lr=1.0, rng=torch.Generator().manual_seed(0), temperature=0.2)
    with optimizer.sampling():
        assert weight.abs().max() <= 1
        (3.0 * weight).sum().backward()
    optimizer.step()
    moved = start - optimizer.state[weight]["natural"].mean(dim=0)
    torch.testing.assert_close(moved, torch.full((7,), 3.0), rtol=0.1, atol=0)


def test_relaxed_weights_harden_as_the_temperature_falls() -> None:
    seen = []
    for temperature in (1.0, 0.01):
        weight = nn.Parameter(torch.zeros(1000))
        rng = torch.Generator().manual_seed(0)
        optimizer = Bernoulli([weight], lr=0.1, rng=rng, temperature=temperature)
        with optimizer.sampling():
            seen.append(float(weight.detach().abs().mean()))
    assert seen[0] < 0.6 < 0.97 < seen[1]


def test_bernoulli_weights_find_a_hidden_sign_pattern() -> None:
    rng = torch.Generator().manual_seed(0)
    x, truth = torch.randn(200, 12, generator=rng), torch.where(torch.arange(12) % 3 == 0, 1.0, -1.0)
    layer = nn.Linear(12, 1, bias=False)
    nn.init.zeros_(layer.weight)
    optimizer = Bernoulli(layer.parameters(), lr=0.05, count=200, rng=rng, temperature=0.5)
    for _ in range(200):
        with optimizer.sampling():
            (layer(x).flatten() - x @ truth).square().mean().backward()
        optimizer.step()
    assert torch.equal(layer.weight.detach()[0], truth)
    assert (optimizer.mean(layer.weight)[0] * truth).min() > 0.8


def test_an_exception_leaves_the_signs_in_place() -> None:
    own = network()
    optimizer = Bernoulli(own.parameters(), lr=0.1, rng=torch.Generator().manual_seed(0))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), optimizer.sampling():
        own(torch.ones(2, 9))
    assert all(set(p.unique().tolist()) <= {-1.0, 1.0} for p in own.parameters())


def test_fewer_labels_than_the_step_are_refused() -> None:
    with pytest.raises(InputError, match="must be above lr"):
        Bernoulli(network().parameters(), lr=2.0, count=1)
