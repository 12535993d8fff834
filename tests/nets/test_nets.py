import copy
import json

import pytest
import torch
from small_nets import EVERY

import askwise as aw
from askwise.errors import InputError
from askwise.nets import NETWORKS, build

ONE_ROW = ("alexnet", "alexnet_half", "batchbald_cnn", "digits_cnn", "gal_cnn", "lenet5", "mlp", "nin")
LOGITS = (*ONE_ROW, "dsn", "encoded", "segnet_basic", "text_head")


def test_every_network_of_the_table_is_tried_here():
    # a narrow network is a frame of zeros around another one, an unchanged one has nothing to try
    assert {*EVERY, "narrow", "unchanged"} == set(NETWORKS)


@pytest.mark.parametrize("name", EVERY)
def test_outputs_have_the_shape_that_was_asked_for(name):
    network = EVERY[name].network(name)
    assert network(EVERY[name].inputs(3)).shape == (3, *EVERY[name].outputs)


@pytest.mark.parametrize("name", LOGITS)
def test_outputs_are_logits(name):
    logits = EVERY[name].network(name)(EVERY[name].inputs(3))
    assert logits.min() < 0  # neither probabilities ...
    assert not torch.allclose(logits.exp().sum(dim=1), torch.ones(()))  # ... nor their logarithms


@pytest.mark.parametrize("name", EVERY)
def test_stages_run_in_the_order_they_are_defined(name):
    network = EVERY[name].network(name)
    ran = []
    for stage, module in network.named_children():
        module.register_forward_hook(lambda *_, stage=stage: ran.append(stage))
    network(EVERY[name].inputs(2))
    defined = [stage for stage, _ in network.named_children() if not stage.endswith("companion")]
    assert ran == defined
    assert all(getattr(network, stage) is module for stage, module in network.named_children())


@pytest.mark.parametrize("name", EVERY)
def test_a_recipe_survives_json_and_builds_the_same_network(name):
    network = EVERY[name].network(name)
    recipe = json.loads(json.dumps(network.recipe))
    assert recipe == network.recipe
    again = build(recipe["name"], **recipe["options"])
    assert again.recipe == network.recipe
    again.load_state_dict(network.state_dict())
    inputs = EVERY[name].inputs(3)
    assert torch.equal(again.eval()(inputs), network.eval()(inputs))


@pytest.mark.parametrize("name", EVERY)
def test_every_parameter_can_be_drawn_anew(name):
    # `aw.fit(start="scratch")` asks every module with parameters of its own for this method.
    for module in EVERY[name].network(name).modules():
        assert not list(module.parameters(recurse=False)) or hasattr(module, "reset_parameters")


@pytest.mark.parametrize("name", EVERY)
def test_all_that_a_network_has_learns(name):
    network = EVERY[name].network(name).train()
    inputs = EVERY[name].inputs(4)
    outputs = network.supervised(inputs) if name == "dsn" else (network(inputs),)
    sum(part.square().sum() for part in outputs).backward()
    frozen = {key for key, p in network.named_parameters() if not p.requires_grad}
    assert frozen == ({"encoder.embedding.weight"} if name == "encoded" else set())
    assert all(p.grad is not None for p in network.parameters() if p.requires_grad)


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


@pytest.mark.parametrize("name", [*ONE_ROW[:-2], "dsn", "nin", "segnet_basic"])
@pytest.mark.parametrize("option", ["channels", "classes"])
def test_no_channels_and_no_classes_are_refused(name, option):
    with pytest.raises(InputError, match=f"{option} must be a whole number of at least 1, not 0"):
        build(name, **{option: 0})
