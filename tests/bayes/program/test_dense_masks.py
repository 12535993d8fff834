"""Subtracting what is dropped equals multiplying what is kept, for every rate and depth."""

import pytest
import torch
from torch import Tensor

from askwise.bayes.program.chain import Activate, Chain, Dense, Mask
from askwise.bayes.program.dense_masks import bind, blocks_of

T, N = 9, 16


def problem(rates: list[float], widths: list[int]) -> tuple[Chain, dict[str, Tensor], list]:
    rng = torch.Generator().manual_seed(0)
    steps, drawn, layers = [], {}, []
    for depth, rate in enumerate(rates):
        name = f"mask{depth}"
        keep = (torch.rand(T, 1, widths[depth], generator=rng) >= rate).float() / (1 - rate)
        weight = torch.randn(widths[depth], widths[depth + 1], generator=rng)
        bias = torch.randn(widths[depth + 1], generator=rng)
        drawn[name] = keep
        layers.append((keep[:, 0], weight, bias))
        steps += [Mask(name, (widths[depth],)), Dense(weight, bias)]
        if depth + 1 < len(rates):
            steps.append(Activate(torch.ops.aten.tanh.default, (), {}))
    return Chain("source", tuple(steps)), drawn, layers


def by_hand(x: Tensor, layers: list) -> Tensor:
    outputs = []
    for number in range(T):
        h = x
        for depth, (keep, weight, bias) in enumerate(layers):
            h = (h * keep[number]) @ weight + bias
            h = h.tanh() if depth + 1 < len(layers) else h
        outputs.append(h)
    return torch.stack(outputs, dim=1)


@pytest.mark.parametrize("rates", [[0.1], [0.9], [0.25, 0.5], [0.6, 0.2], [0.3, 0.3, 0.7]])
@pytest.mark.parametrize("budget", [2**28, 1])
def test_it_equals_the_plain_products(rates: list[float], budget: int) -> None:
    widths = [*[40, 30, 20][: len(rates)], 4]
    chain, drawn, layers = problem(rates, widths)
    x = torch.randn(N, 40, generator=torch.Generator().manual_seed(1))
    blocks = blocks_of(chain, drawn)
    assert blocks is not None
    found = bind(blocks, count=T, budget=budget)(x)
    torch.testing.assert_close(found, by_hand(x, layers), rtol=1e-4, atol=1e-4)


def test_a_mask_with_several_scales_is_left_to_the_other_form() -> None:
    chain, drawn, _ = problem([0.5], [40, 4])
    assert blocks_of(chain, drawn) is not None
    drawn["mask0"][0, 0, 0] = 0.123
    assert blocks_of(chain, drawn) is None


@pytest.mark.parametrize("rates", [[0.3], [0.3, 0.5]])
def test_a_second_batch_leaves_the_results_of_the_first_alone(rates: list[float]) -> None:
    chain, drawn, _ = problem(rates, [*[40, 30][: len(rates)], 4])
    outputs = bind(blocks_of(chain, drawn), count=T, budget=2**28)
    first = outputs(torch.ones(N, 40))
    before = first.clone()
    outputs(torch.zeros(N, 40))
    assert torch.equal(first, before)
