"""Flipped noise gives every item weights of its own, with the moments of a plain sample."""

import pytest
import torch
from torch import Tensor, nn

from askwise.errors import InputError
from askwise.optim.flipout import flipped

LAYERS = {
    "dense": (lambda: nn.Linear(5, 4), (5,)),
    "dense on sequences": (lambda: nn.Linear(5, 4), (3, 5)),
    "dense without bias": (lambda: nn.Linear(5, 4, bias=False), (5,)),
    "conv1d": (lambda: nn.Conv1d(3, 4, 3, padding=1, padding_mode="circular"), (3, 6)),
    "conv2d in groups": (lambda: nn.Conv2d(4, 4, 2, stride=2, groups=2), (4, 4, 4)),
    "conv3d": (lambda: nn.Conv3d(2, 4, 2), (2, 3, 3, 3)),
}


def noises(layer: nn.Module, rng: torch.Generator, std: float = 0.5) -> dict[nn.Parameter, Tensor]:
    return {p: std * torch.randn(p.shape, generator=rng) for p in layer.parameters()}


@pytest.mark.parametrize("kind", LAYERS)
def test_an_item_sees_the_moments_of_a_plain_sample(kind: str) -> None:
    build, item = LAYERS[kind]
    layer, rng = build(), torch.Generator().manual_seed(0)
    x = torch.randn(1, *item)
    flips, samples = [], []
    with torch.no_grad():
        plain = layer(x)
        for _ in range(800):
            noise = noises(layer, rng)
            with flipped(layer, {"": layer}, noise, rng):
                flips.append(layer(x))
            moved = {name: p + noise[p] for name, p in layer.named_parameters()}
            samples.append(torch.func.functional_call(layer, moved, x))
    many, sampled = torch.cat(flips), torch.cat(samples)
    assert (many.mean(0) - plain[0]).abs().max() < 0.12 * sampled.std(0).max()
    torch.testing.assert_close(many.std(0), sampled.std(0), rtol=0.1, atol=0.02)
    assert torch.equal(layer(x), plain)  # and no hook stays behind


def test_items_of_a_batch_are_independent_and_copies_under_one_sample_are_not() -> None:
    layer, rng = nn.Linear(5, 4), torch.Generator().manual_seed(0)
    x, pairs = torch.ones(2, 5), []
    with torch.no_grad():
        for _ in range(800):
            with flipped(layer, {"": layer}, noises(layer, rng), rng):
                pairs.append(layer(x)[:, 0])
    assert torch.corrcoef(torch.stack(pairs).T)[0, 1].abs() < 0.08


def test_a_layer_called_twice_has_the_same_weights_for_an_item() -> None:
    layer, rng = nn.Linear(5, 4), torch.Generator().manual_seed(0)
    x = torch.randn(6, 5)
    with torch.no_grad(), flipped(layer, {"": layer}, noises(layer, rng), rng):
        assert torch.equal(layer(x), layer(x))
        assert not torch.allclose(layer(x[:1].expand(6, -1))[0], layer(x[:1].expand(6, -1))[1])


def test_the_gradient_of_the_mean_weights_has_less_noise_than_under_one_sample() -> None:
    torch.manual_seed(0)
    layer, rng = nn.Linear(10, 1), torch.Generator().manual_seed(0)
    x, y = torch.randn(64, 10), torch.randn(64, 1)
    spread = {}
    for kind in ("flipout", "sample"):
        found = []
        for _ in range(300):
            noise = noises(layer, rng)
            if kind == "flipout":
                with flipped(layer, {"": layer}, noise, rng):
                    loss = (layer(x) - y).square().mean()
            else:
                moved = {name: p + noise[p] for name, p in layer.named_parameters()}
                loss = (torch.func.functional_call(layer, moved, x) - y).square().mean()
            found.append(torch.autograd.grad(loss, layer.weight)[0])
        spread[kind] = torch.stack(found).std(0).mean()
    assert spread["flipout"] < 0.7 * spread["sample"]


def test_items_that_are_not_on_the_first_axis_are_refused() -> None:
    network = nn.Sequential(nn.Flatten(0, 1), nn.Linear(5, 4))
    rng = torch.Generator().manual_seed(0)
    with (
        flipped(network, {"1": network[1]}, noises(network, rng), rng),
        pytest.raises(InputError, match=r"layer '1' is called on \[6, 5\] for a batch of 2 items"),
    ):
        network(torch.ones(2, 3, 5))
