"""The squares are those of gradients taken item by item, for every layer the optimizer knows."""

import pytest
import torch
from item_gradients import by_item
from torch import Tensor, nn

from askwise.optim import squares
from askwise.optim.layers import gaussian_layers
from askwise.optim.recording import recording
from askwise.optim.squares import mean_squares


class Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.shared, self.head = nn.Linear(6, 6), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.shared(self.shared(x).tanh()).tanh())


class Sequence(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.norm, self.head = nn.Linear(4, 5), nn.LayerNorm(5), nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.norm(self.embed(x)).tanh()).mean(dim=1)


class Skip(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 4, 1)
        self.head = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        seen = nn.functional.relu_(self.first(x))  # in place, as many networks have it
        return self.head((seen + self.second(input=seen)).mean(dim=(2, 3)))


def flat(*layers: nn.Module) -> nn.Module:
    return nn.Sequential(*layers, nn.Tanh(), nn.Flatten(), nn.LazyLinear(3))


NETWORKS = {
    "dense": (lambda: nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)), (6,)),
    "dense without bias": (
        lambda: nn.Sequential(nn.Linear(6, 5, bias=False), nn.Tanh(), nn.Linear(5, 3)),
        (6,),
    ),
    "called twice": (Twice, (6,)),
    "sequence": (Sequence, (7, 4)),
    "two more axes": (lambda: flat(nn.Linear(4, 5)), (2, 3, 4)),
    "conv1d": (lambda: flat(nn.Conv1d(3, 4, 3, stride=2, padding=1)), (3, 9)),
    "conv2d": (lambda: flat(nn.Conv2d(2, 4, 3)), (2, 6, 5)),
    "conv2d stride, padding, dilation": (
        lambda: flat(nn.Conv2d(2, 4, (3, 2), stride=(2, 1), padding=(2, 1), dilation=(1, 2))),
        (2, 7, 6),
    ),
    "conv2d in groups": (lambda: flat(nn.Conv2d(4, 6, 3, groups=2)), (4, 5, 5)),
    "conv2d depthwise": (lambda: flat(nn.Conv2d(4, 8, 3, groups=4, padding="same")), (4, 5, 5)),
    "conv2d reflecting": (lambda: flat(nn.Conv2d(2, 4, 3, padding=1, padding_mode="reflect")), (2, 5, 5)),
    "conv2d at one place": (lambda: flat(nn.Conv2d(2, 4, 5)), (2, 5, 5)),
    "conv3d": (lambda: flat(nn.Conv3d(2, 3, 2, stride=(1, 2, 1), padding=1)), (2, 3, 4, 4)),
    "skip, in place, by keyword": (Skip, (2, 5, 5)),
    "batch norm in eval mode": (
        lambda: flat(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4)).eval(),
        (2, 5, 5),
    ),
}


def case(name: str) -> tuple[nn.Module, Tensor, Tensor]:
    make, shape = NETWORKS[name]
    with torch.random.fork_rng():
        torch.manual_seed(3)
        network = make()
        x, y = torch.randn(8, *shape), torch.randint(3, (8,))
        network(x)  # lazy layers take their shape
        for norm in (m for m in network.modules() if isinstance(m, nn.BatchNorm2d)):
            norm.running_mean.normal_()
            norm.running_var.uniform_(0.5, 2)
    return network, x, y


@pytest.mark.parametrize("name", NETWORKS)
def test_squares_equal_those_of_gradients_taken_item_by_item(name: str) -> None:
    network, x, y = case(name)
    layers = gaussian_layers(network)
    with recording(network, layers) as record:
        nn.functional.cross_entropy(network(x), y).backward()
    found, truth = record.squares(), by_item(network, x, y)
    names = {p: n for n, p in network.named_parameters()}
    assert {names[p] for p in found} == {
        f"{a}.{key}" for a, m in layers.items() for key, _ in m.named_parameters()
    }
    for parameter, value in found.items():
        torch.testing.assert_close(value, truth[names[parameter]], rtol=1e-5, atol=1e-7)


def test_the_square_of_the_batch_gradient_is_something_else() -> None:
    network, x, y = case("dense")
    nn.functional.cross_entropy(network(x), y).backward()
    assert not torch.allclose(network[0].weight.grad.square(), by_item(network, x, y)["0.weight"], rtol=0.1)


def test_summing_squares_over_places_would_be_wrong() -> None:
    network, x, y = case("conv2d")
    own, rows = by_item(network, x, y)["0.weight"], []
    network[0].register_forward_hook(lambda _m, _i, out: out.register_hook(rows.append) and None)
    nn.functional.cross_entropy(network(x), y).backward()
    patches = nn.functional.unfold(x, 3)
    per_place = torch.einsum("nel,ndl->ed", rows[0].flatten(2) ** 2, patches**2).view_as(own) * len(x)
    assert not torch.allclose(per_place, own, rtol=0.1)


@pytest.mark.parametrize("limit", [1, 3_000, 10**9])
def test_working_memory_changes_nothing(limit: int) -> None:
    layer = nn.Conv2d(3, 4, 3, padding=1)
    rng = torch.Generator().manual_seed(0)
    call = (torch.randn(7, 3, 6, 6, generator=rng), torch.randn(7, 4, 6, 6, generator=rng))
    found, whole = mean_squares(layer, [call], limit=limit), mean_squares(layer, [call])
    torch.testing.assert_close(found, whole, rtol=1e-5, atol=0)


def test_no_more_items_at_once_than_the_limit_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, seen = nn.Conv2d(16, 32, 3, padding=1), []
    real = squares._patches

    def watched(layer: nn.Module, inputs: Tensor) -> Tensor:
        patches = real(layer, inputs)
        seen.append(patches.numel() * patches.element_size())
        return patches

    monkeypatch.setattr(squares, "_patches", watched)
    calls = [(torch.zeros(256, 16, 16, 16), torch.zeros(256, 32, 16, 16))]
    mean_squares(layer, calls)
    assert max(seen) <= squares.LIMIT < sum(seen)
    assert squares.LIMIT < 200_000_000
