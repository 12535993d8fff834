"""A row of dense layers, masks and activations is recognised; anything else is not taken for one."""

import pytest
import torch
from test_split import cut
from torch import Tensor, nn

from askwise.bayes.program.chain import Activate, Chain, Dense, Mask, match
from askwise.bayes.program.trace import tensors_of


def chain_of(
    network: nn.Module, drawn: list[str] | None = None, masks: bool = False, item: tuple[int, ...] = (6,)
) -> Chain | None:
    inputs = torch.zeros(4, *item)
    found = cut(network.eval(), inputs, drawn or [], masks=masks)
    fixed = dict(tensors_of(network))
    stage = found.stages["fixed"]
    fixed.update(zip(stage.gives, stage.run(*(fixed[name] for name in stage.takes)), strict=True))
    return match(found, fixed, batch=4)


def kinds(chain: Chain | None) -> list[str]:
    assert chain is not None
    return [type(step).__name__ for step in chain.steps]


def test_masks_dense_layers_and_activations_make_a_chain() -> None:
    network = nn.Sequential(nn.Dropout(0.5), nn.Linear(6, 5), nn.GELU(), nn.Dropout(0.1), nn.Linear(5, 3))
    assert kinds(chain_of(network, masks=True)) == ["Mask", "Dense", "Activate", "Mask", "Dense"]


def test_reshaping_an_item_is_nothing_to_do() -> None:
    network = nn.Sequential(nn.Unflatten(1, (2, 3)), nn.Dropout(0.5), nn.Flatten(), nn.Linear(6, 3))
    chain = chain_of(network, masks=True)
    assert kinds(chain) == ["Mask", "Dense"]
    assert chain.steps[0] == Mask(chain.steps[0].name, (2, 3))


def test_drawn_and_fixed_weights_are_told_apart() -> None:
    network = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3, bias=False))
    first, activation, last = chain_of(network, ["0.weight"]).steps
    assert isinstance(first, Dense)
    assert isinstance(first.weight, str)
    assert isinstance(first.bias, Tensor)
    assert isinstance(activation, Activate)
    assert isinstance(last.weight, Tensor)
    assert last.bias is None


def picture(*middle: nn.Module) -> Chain | None:
    """The chain of a network for pictures of 9 x 9, with these modules behind dropout of 4 channels."""
    network = nn.Sequential(nn.Conv2d(1, 4, 2), nn.Dropout2d(0.5), *middle, nn.Flatten(), nn.LazyLinear(3))
    network(torch.zeros(1, 1, 9, 9))
    return chain_of(network, masks=True, item=(1, 9, 9))


def test_convolutions_and_pooling_make_a_chain_that_is_not_flat() -> None:
    chain = picture(nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(4, 5, 3, padding=1, stride=2, bias=False))
    assert kinds(chain) == ["Mask", "Pool", "Activate", "Convolve", "Dense"]
    assert not chain.flat
    convolution = chain.steps[3]
    assert convolution.bias is None
    assert (convolution.stride, convolution.padding, convolution.dilation) == ((2, 2), (1, 1), (1, 1))
    assert kinds(picture(nn.AvgPool2d(2))) == ["Mask", "Pool", "Dense"]
    assert chain_of(nn.Sequential(nn.Dropout(0.5), nn.Linear(6, 3)), masks=True).flat  # the control


@pytest.mark.parametrize(
    "middle",
    [
        [nn.Conv2d(4, 4, 3, groups=2)],
        [nn.ConvTranspose2d(4, 4, 3)],
        [nn.Conv2d(4, 4, 3), nn.Unflatten(1, (2, 2)), nn.Flatten(1, 2)],  # another order of the numbers
        [nn.MaxPool2d(2), nn.PixelShuffle(2)],
    ],
)
def test_other_convolutions_and_reshapes_are_no_chain(middle: list[nn.Module]) -> None:
    assert picture(*middle) is None


class Twofold(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(6, 6), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x) + x)


@pytest.mark.parametrize(
    "network",
    [
        Twofold(),  # two values cross the cut
        nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.Linear(6, 3)),  # looks across the units
        nn.Sequential(nn.Linear(6, 6), nn.Softmax(1), nn.Linear(6, 3)),
        nn.Sequential(nn.Linear(6, 6), nn.Unflatten(1, (2, 3)), nn.Linear(3, 3), nn.Flatten()),
    ],
)
def test_anything_else_is_no_chain(network: nn.Module) -> None:
    names = dict(network.named_parameters())
    assert chain_of(network, [next(name for name in names if name.endswith("weight"))]) is None
