"""Adding up what the channels give equals passes under the masks, and is as much less work."""

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from askwise.bayes.program import build as program
from askwise.bayes.program import channel_sums, dropout
from askwise.bayes.program.build import plain_pass

T = 40


def network(*, between: list[nn.Module], behind: list[nn.Module], **options: object) -> nn.Module:
    """A large convolution under a mask, so that sums pay; then what is given."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(
            nn.Conv2d(1, 8, 3),
            nn.Dropout2d(),
            *between,
            nn.Conv2d(8, 6, 5, **options),
            *behind,
            nn.Flatten(),
            nn.LazyLinear(3),
        ).eval()


def made(of: nn.Module, x: Tensor, count: int = T) -> tuple[program.Outputs, Tensor]:
    """The program's outputs, and those of plain passes."""
    with torch.no_grad():
        of(x)
    calls = dropout.find(of, x[:1])
    draws = dropout.draw(calls, numbers=range(count), seed=1)
    draws["dropout.0"][0], draws["dropout.0"][1] = 0, 1  # every channel dropped, and none
    ready = program.build(of, x[:1], draws, dropouts=calls, count=count)
    assert ready.form == "kept channels"
    assert ready.batch == len(x)
    with torch.no_grad():
        plain = [plain_pass(of, calls, draws, number, x) for number in range(count)]
    return ready.bind(draws), torch.stack(plain, dim=1)


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What `room` answers in a test."""
    found: list[int] = []
    real = channel_sums.room

    def listening(*args: object, **options: object) -> int:
        found.append(real(*args, **options))
        return found[-1]

    monkeypatch.setattr(channel_sums, "room", listening)
    return found


def inputs(size: int = 16) -> Tensor:
    return torch.randn(program.BATCH, 1, size, size, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize(
    "between", [[], [nn.MaxPool2d(2), nn.ReLU()], [nn.ReLU()]], ids=["none", "pool", "relu"]
)
@pytest.mark.parametrize(
    "behind",
    [
        [],
        [nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.3)],
        [nn.GELU(), nn.Dropout2d(0.4), nn.AvgPool2d(2), nn.ReLU()],
        [nn.Dropout2d(0.4), nn.Conv2d(6, 4, 2), nn.ReLU()],
    ],
    ids=["dense", "units", "channels", "convolution"],
)
@pytest.mark.parametrize(
    "options",
    [{"padding": 2}, {"padding": 2, "bias": False, "stride": 2}, {"padding": 4, "dilation": 2}],
    ids=["padded", "strided", "dilated"],
)
def test_it_equals_plain_passes(
    rooms: list[int], between: list[nn.Module], behind: list[nn.Module], options: dict[str, object]
) -> None:
    x = inputs()
    outputs, expected = made(network(between=between, behind=behind, **options), x)
    with torch.no_grad():
        found = outputs(x)
        again = outputs(x)
    assert rooms
    assert min(rooms) > 0
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    assert torch.equal(found, again)
    assert found.std(dim=1).max() > 1e-3


def test_a_batch_goes_in_parts_where_its_outputs_are_many(
    monkeypatch: pytest.MonkeyPatch, rooms: list[int]
) -> None:
    of, x = network(between=[], behind=[nn.ReLU()], padding=2), inputs()
    whole, expected = made(of, x)
    monkeypatch.setattr(channel_sums, "_ROOM", 40 * T * 6 * 14 * 14 * 4)
    parts, _ = made(of, x)
    assert rooms == [256, 32]
    with torch.no_grad():
        torch.testing.assert_close(parts(x), expected, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(parts(x), whole(x), rtol=1e-5, atol=1e-5)


def test_double_precision_stays_double() -> None:
    of, x = network(between=[], behind=[], padding=2), inputs().double()
    with torch.no_grad():
        of(x.float())
    outputs, expected = made(of.double(), x)
    with torch.no_grad():
        torch.testing.assert_close(outputs(x), expected, rtol=1e-12, atol=1e-12)


def test_the_convolution_is_done_once_for_all_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_sums, "product", torch.matmul)  # oneDNN's products are not counted
    x = inputs()
    outputs, _ = made(network(between=[], behind=[nn.ReLU()], padding=2), x)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        outputs(x)
    pixels, channels = 14 * 14, 8 * 6
    first, dense = 14 * 14 * 8 * 9, T * 3 * 6 * pixels
    sums = pixels * channels * (25 + T)  # a convolution for every draw: pixels * channels * 25 * T / 2
    assert counter.get_total_flops() == pytest.approx(2 * len(x) * (first + sums + dense), rel=0.01)


@pytest.mark.parametrize(
    ("kernel", "count", "pays"),
    [(5, 100, True), (3, 100, False), (5, 8, False), (1, 100, False)],
)
def test_sums_are_for_large_kernels_and_many_draws(kernel: int, count: int, pays: bool) -> None:
    layer = channel_sums.Convolve(torch.ones(6, 8, kernel, kernel), None, (1, 1), (0, 0), (1, 1))
    half = (torch.arange(8) % 2).float().expand(count, 8)
    item = torch.empty(1, 8, 12, 12, device="meta")
    assert bool(channel_sums.room(layer, half, wanted=0.5, item=item, after=())) == pays


def test_sums_are_not_for_outputs_that_few_items_fill_the_room_with() -> None:
    layer = channel_sums.Convolve(torch.ones(64, 8, 5, 5), None, (1, 1), (0, 0), (1, 1))
    half = (torch.arange(8) % 2).float().expand(100, 8)
    rooms = [
        channel_sums.room(
            layer, half, wanted=0.5, item=torch.empty(1, 8, size, size, device="meta"), after=()
        )
        for size in (12, 32, 128)
    ]
    assert rooms == [16, 0, 0]
