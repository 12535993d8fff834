"""Computing the kept channels alone equals passes under the masks, and is as much less work."""

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from askwise.bayes.program import build as program
from askwise.bayes.program import channel_masks, dropout
from askwise.bayes.program.build import Program, plain_pass
from askwise.bayes.program.chain import Activate, Chain, Convolve, Dense, Mask

T = 6


def network(*, rate: float = 0.5, late: float = 0.3) -> nn.Module:
    """Masks before pooling, before a convolution with padding and strides, on a flat item and on units."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(
            nn.Conv2d(2, 8, 3),
            nn.Dropout2d(rate),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Conv2d(8, 6, 3, padding=1, stride=2, bias=False),
            nn.GELU(),
            nn.Dropout2d(late),
            nn.Conv2d(6, 4, 2, dilation=2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Dropout(late),
            nn.Linear(16, 12),
            nn.Dropout(rate),
            nn.ReLU(),
            nn.Linear(12, 3),
        ).eval()


def made(
    of: nn.Module, item: Tensor, draws: dict[str, Tensor] | None = None, **options: int
) -> tuple[Program, dict[str, Tensor], tuple]:
    calls = dropout.find(of, item)
    draws = dropout.draw(calls, numbers=range(T), seed=1) if draws is None else draws
    return program.build(of, item, draws, dropouts=calls, count=T, **options), draws, calls


def inputs(count: int, *shape: int) -> Tensor:
    return torch.randn(count, *shape, generator=torch.Generator().manual_seed(2))


def expected(of: nn.Module, draws: dict[str, Tensor], calls: tuple, x: Tensor) -> Tensor:
    return torch.stack([plain_pass(of, calls, draws, number, x) for number in range(T)], dim=1)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("late", [0.2, 0.7])
@pytest.mark.parametrize("budget", [2**28, 2**16])
def test_it_equals_plain_passes(rate: float, late: float, budget: int) -> None:
    of, x = network(rate=rate, late=late), inputs(program.BATCH, 2, 16, 16)
    ready, draws, calls = made(of, x[:1], budget=budget)
    assert ready.form == "kept channels"
    x = x[: ready.batch]
    with torch.no_grad():
        found = ready.bind(draws)(x)
    torch.testing.assert_close(found, expected(of, draws, calls, x), rtol=1e-5, atol=1e-5)
    assert found.std(dim=1).max() > 1e-3


def test_a_draw_may_drop_every_channel_or_none() -> None:
    of, x = network(), inputs(program.BATCH, 2, 16, 16)
    _, draws, calls = made(of, x[:1])
    for mask in draws.values():
        mask[0], mask[1] = 0, 1
    ready, *_ = made(of, x[:1], draws)
    assert ready.form == "kept channels"
    with torch.no_grad():
        found = ready.bind(draws)(x)
    torch.testing.assert_close(found, expected(of, draws, calls, x), rtol=1e-5, atol=1e-5)


def test_half_of_the_channels_is_a_quarter_of_the_work() -> None:
    of = nn.Sequential(
        nn.Conv2d(1, 16, 3),
        nn.Dropout2d(),
        nn.Conv2d(16, 32, 3),
        nn.Dropout2d(),
        nn.Flatten(),
        nn.Linear(4608, 2),
    ).eval()
    x = inputs(program.BATCH, 1, 16, 16)
    _, draws, calls = made(of, x[:1])
    half = {
        name: (torch.arange(mask[0].numel()) % 2 == 0).float().view(mask[:1].shape)
        for name, mask in draws.items()
    }
    draws = {name: mask.expand(T, *mask.shape[1:]).contiguous() for name, mask in half.items()}
    ready, *_ = made(of, x[:1], draws)

    def work(run) -> int:
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            run()
        return counter.get_total_flops()

    outputs = ready.bind(draws)
    first = work(lambda: of[0](x))
    whole = work(lambda: expected(of, draws, calls, x)) - T * first
    assert work(lambda: outputs(x)) - first == pytest.approx(whole * 0.25, rel=0.02)


def test_a_mask_on_the_inputs_leaves_them_as_they_are() -> None:
    of = nn.Sequential(nn.Dropout2d(), nn.ReLU(), nn.Conv2d(2, 4, 3), nn.Flatten(), nn.Linear(16, 3)).eval()
    x = inputs(program.BATCH, 2, 4, 4)
    before = x.clone()
    ready, draws, calls = made(of, x[:1])
    assert ready.form == "kept channels"
    with torch.no_grad():
        found = ready.bind(draws)(x)
    assert torch.equal(x, before)
    torch.testing.assert_close(found, expected(of, draws, calls, x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "middle",
    [
        [nn.Dropout(0.5)],  # drops pixels one by one
        [nn.Dropout2d(0.5), nn.Sigmoid()],  # a dropped channel is not nought behind it
        [nn.Dropout2d(0.5), nn.Dropout2d(0.5)],
    ],
)
def test_other_masks_are_left_to_the_other_forms(middle: list[nn.Module]) -> None:
    of = nn.Sequential(nn.Conv2d(1, 4, 3), *middle, nn.Conv2d(4, 4, 3), nn.Flatten(), nn.Linear(64, 3)).eval()
    x = inputs(program.BATCH, 1, 8, 8)
    ready, draws, calls = made(of, x[:1])
    assert ready.form == "vmap"
    with torch.no_grad():
        found = ready.bind(draws)(x)
    torch.testing.assert_close(found, expected(of, draws, calls, x), rtol=1e-5, atol=1e-5)


def test_draws_of_another_kind_than_it_was_made_for_are_looped_over() -> None:
    of, x = network(), inputs(program.BATCH, 2, 16, 16)
    ready, draws, calls = made(of, x[:1])
    draws["dropout.0"][0, 0, 0] = 0.3  # a second scale
    with torch.no_grad():
        found = ready.bind(draws)(x)
    torch.testing.assert_close(found, expected(of, draws, calls, x), rtol=1e-5, atol=1e-5)


def test_blocks_need_a_mask_first_and_fixed_weights() -> None:
    convolution = Convolve(torch.ones(1, 1, 1, 1), None, (1, 1), (0, 0), (1, 1))
    mask, dense = Mask("mask", (1, 2, 2)), Dense(torch.ones(4, 2), None)
    relu = Activate(torch.ops.aten.relu.default, (), {})
    assert len(channel_masks.blocks_of(Chain("source", (mask, relu, convolution, dense)))) == 2
    for steps in [(convolution, dense), (relu, mask, convolution, dense), (convolution, dense, mask)]:
        assert channel_masks.blocks_of(Chain("source", steps)) == []
    assert channel_masks.blocks_of(Chain("source", (mask, convolution, Dense("drawn", None)))) == []
