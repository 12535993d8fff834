"""Every network predicts by the one way to predict: outputs equal those of plain passes."""

import pytest
import torch
from small_nets import EVERY
from torch import Tensor

from askwise.bayes.place import called_layers
from askwise.bayes.program import build as program
from askwise.bayes.program import dropout
from askwise.bayes.program.build import plain_pass

T = 3
NO_LAYERS = ("dcgan_generator", "tiny_encoder")  # transposed convolutions and embeddings are not drawn
MASKED = [
    "batchbald_cnn", "digits_cnn", "dsn", "encoded", "espcn", "gal_cnn", "gal_code_cnn",
    "homoscedastic", "mlp", "nin", "segnet_basic", "text_head",
]  # fmt: skip


def passes(name: str, draws: dict[str, Tensor], dropouts=()) -> tuple[str, Tensor, Tensor]:
    """The form that was chosen, its outputs, and those of plain passes."""
    network, inputs = EVERY[name].network(name), EVERY[name].inputs
    made = program.build(network, inputs(1), draws, dropouts=dropouts, count=T, budget=2**26)
    with torch.no_grad():
        found = made.bind(draws)(inputs(made.batch))
    plain = [plain_pass(network, dropouts, draws, number, inputs(made.batch)) for number in range(T)]
    return made.form, found, torch.stack(plain, dim=1)


def test_every_network_with_dropout_is_tried_here():
    found = [name for name in EVERY if dropout.find(EVERY[name].network(name), EVERY[name].inputs(1))]
    assert found == MASKED


@pytest.mark.parametrize("name", MASKED)
def test_masks_give_the_outputs_of_plain_passes(name):
    dropouts = dropout.find(EVERY[name].network(name), EVERY[name].inputs(1))
    form, found, expected = passes(name, dropout.draw(dropouts, numbers=range(T), seed=1), dropouts)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)
    assert found.std(dim=1).max() > 1e-5  # a control: the draws do differ
    assert form in (
        "dense chain",
        "kept channels",
        "vmap",
        "loop",
    )  # a fallback would be said, and a warning is an error here


@pytest.mark.parametrize("name", [name for name in EVERY if name not in NO_LAYERS])
@pytest.mark.parametrize("which", ["last", "first"])
def test_drawn_weights_give_the_outputs_of_plain_passes(name, which):
    network = EVERY[name].network(name)
    layers = list(called_layers(network, EVERY[name].inputs(1)))
    weight = f"{layers[-1 if which == 'last' else 0]}.weight"
    mean = network.get_parameter(weight).detach()
    noise = torch.randn(T, *mean.shape, generator=torch.Generator().manual_seed(3))
    _, found, expected = passes(name, {weight: mean + 0.1 * noise})
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)
    assert found.std(dim=1).max() > 1e-5


@pytest.mark.parametrize("name", NO_LAYERS)
def test_a_network_without_draws_runs_once(name):
    form, found, expected = passes(name, {})
    assert form == "no draws"
    torch.testing.assert_close(found, expected)
