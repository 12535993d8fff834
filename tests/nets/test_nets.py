import copy
import json

import pytest
import torch
from torch import nn

import askwise as aw
from askwise.errors import InputError
from askwise.nets import NETWORKS, build

EVERY = {
    "batchbald_cnn": {},
    "digits_cnn": {},
    "gal_cnn": {},
    "lenet5": {},
    "mlp": {"features": 12, "classes": 10},
}


def inputs_for(network: nn.Module, count: int = 3) -> torch.Tensor:
    options = network.recipe["options"]
    if "size" in options:
        return torch.rand(count, options["channels"], options["size"], options["size"])
    return torch.rand(count, options["features"])


def test_every_network_of_the_table_is_tried_here():
    assert set(EVERY) == set(NETWORKS)


@pytest.mark.parametrize("name", EVERY)
def test_outputs_are_logits_of_items_by_classes(name):
    network = build(name, **{**EVERY[name], "classes": 7}).eval()
    logits = network(inputs_for(network))
    assert logits.shape == (3, 7)
    assert logits.min() < 0  # neither probabilities ...
    assert not torch.allclose(logits.exp().sum(dim=1), torch.ones(3))  # ... nor their logarithms


@pytest.mark.parametrize("name", EVERY)
def test_stages_run_in_the_order_they_are_defined(name):
    network = build(name, **EVERY[name])
    ran = []
    for stage, module in network.named_children():
        module.register_forward_hook(lambda *_, stage=stage: ran.append(stage))
    network(inputs_for(network))
    assert ran == [stage for stage, _ in network.named_children()]
    assert all(getattr(network, stage) is module for stage, module in network.named_children())


@pytest.mark.parametrize("name", EVERY)
def test_a_recipe_survives_json_and_builds_the_same_network(name):
    network = build(name, **EVERY[name])
    recipe = json.loads(json.dumps(network.recipe))
    assert recipe == network.recipe
    again = build(recipe["name"], **recipe["options"])
    assert again.recipe == network.recipe
    again.load_state_dict(network.state_dict())
    inputs = inputs_for(network)
    assert torch.equal(again.eval()(inputs), network.eval()(inputs))


def test_a_copy_keeps_its_recipe():
    assert copy.deepcopy(aw.nets.gal_cnn(size=12)).recipe == {
        "name": "gal_cnn",
        "options": {"channels": 1, "size": 12, "classes": 10},
    }


def test_the_recipe_names_options_given_by_position_too():
    assert aw.nets.mlp(4, 2, hidden=(8,)).recipe == {
        "name": "mlp",
        "options": {"features": 4, "classes": 2, "hidden": [8], "dropout": 0.0},
    }


def test_an_unknown_network_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="unknown network 'gal_cn'; did you mean 'gal_cnn'"):
        build("gal_cn")


def test_an_unknown_option_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="unknown option of gal_cnn 'clases'; did you mean 'classes'"):
        build("gal_cnn", clases=3)


def test_a_missing_option_is_named():
    with pytest.raises(InputError, match="mlp needs features and classes"):
        build("mlp")


@pytest.mark.parametrize("name", ["batchbald_cnn", "digits_cnn", "gal_cnn", "lenet5"])
@pytest.mark.parametrize("option", ["channels", "classes"])
def test_no_channels_and_no_classes_are_refused(name, option):
    with pytest.raises(InputError, match=f"{option} must be a whole number of at least 1, not 0"):
        build(name, **{option: 0})
