"""Dropout is found wherever it hides, and what cannot be drawn is refused by name."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from zoo import CASES

from askwise.bayes.program import dropout
from askwise.bayes.program.build import plain_pass
from askwise.errors import InputError


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("dense", 2),
        ("twice", 2),
        ("functional", 1),
        ("attention", 1),
        ("lstm", 1),
        ("gru", 1),
        ("transformer", 4),
        ("volumes", 2),
    ],
)
def test_every_call_is_found(name: str, calls: int) -> None:
    case = CASES[name]
    assert len(dropout.find(case.network(), case.inputs(1))) == calls


def test_masks_have_no_item_axis() -> None:
    shapes = {name: dropout.find(CASES[name].network(), CASES[name].inputs(1))[0].shape for name in CASES}
    assert shapes["functional"] == (1, 8)
    assert shapes["sequence first"] == (5, 1, 8)  # the items are second there
    assert shapes["attention"] == (2, 5, 5)  # two heads, and no items
    assert shapes["normalised"] == (1, 4, 1, 1)  # whole channels


def test_attention_masks_follow_the_items_whatever_their_order() -> None:
    class HeadsFirst(nn.Module):
        """Merges heads and items the other way round."""

        def forward(self, x: Tensor) -> Tensor:
            merged = F.dropout(x.view(len(x), 2, 3).transpose(0, 1).reshape(-1, 3), 0.5, self.training)
            return merged.view(2, len(x), 3).sum(0)

    x = torch.randn(1, 6).expand(4, 6).contiguous()
    network = HeadsFirst()
    dropouts = dropout.find(network, x)
    assert dropouts[0].merged
    assert not dropouts[0].items_first
    masks = dropout.draw(dropouts, numbers=range(1), seed=3)
    out = plain_pass(network, dropouts, masks, 0, x)
    assert torch.equal(out, out[:1].expand_as(out))


def test_masks_keep_the_stated_fraction() -> None:
    one = dropout.DropoutCall("dropout.0", 0.75, (1, 1000), 0)
    mask = dropout.draw([one], numbers=range(100), seed=0)["dropout.0"]
    assert set(mask.unique().tolist()) == {0.0, 1.0}
    assert abs(mask.mean().item() - 0.75) < 0.005


def test_a_draw_depends_on_its_number_alone() -> None:
    one = dropout.DropoutCall("dropout.0", 0.5, (1, 50), 0)
    ten = dropout.draw([one], numbers=range(10), seed=4)["dropout.0"]
    later = dropout.draw([one], numbers=range(6, 9), seed=4)["dropout.0"]
    assert torch.equal(ten[6:9], later)
    assert not torch.equal(ten, dropout.draw([one], numbers=range(10), seed=5)["dropout.0"])


@pytest.mark.parametrize("module", [nn.AlphaDropout(0.1), nn.FeatureAlphaDropout(0.1)])
def test_alpha_dropout_modules_are_refused_by_name(module: nn.Module) -> None:
    network = nn.Sequential(nn.Linear(6, 4), module)
    with pytest.raises(InputError, match=rf"{type(module).__name__} \('1'\)"):
        dropout.find(network, torch.zeros(1, 6))


def test_functional_alpha_dropout_is_refused_by_name() -> None:
    class Alpha(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return F.alpha_dropout(x, 0.2, self.training)

    with pytest.raises(InputError, match="alpha_dropout"):
        dropout.find(Alpha(), torch.zeros(1, 6))


def test_a_mask_for_another_input_shape_is_refused() -> None:
    network = nn.Sequential(nn.Dropout(0.5))
    dropouts = dropout.find(network, torch.zeros(1, 6))
    masks = dropout.draw(dropouts, numbers=range(1), seed=0)
    with pytest.raises(InputError, match=r"dropout call 0 has shape \(1, 7\)"):
        plain_pass(network, dropouts, masks, 0, torch.zeros(1, 7))


def test_an_axis_that_grows_oddly_with_the_items_is_refused() -> None:
    class Gram(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return F.dropout(x @ x.T, 0.5, self.training).sum(1, keepdim=True)

    with pytest.raises(InputError, match="dropout call 0"):
        dropout.find(Gram(), torch.ones(1, 6))
