"""Every form of prediction equals T plain passes with the same draws, and leaves no trace."""

import copy
import warnings

import pytest
import torch
from torch import Tensor, nn
from zoo import CASES, Case

from askwise.bayes.place import called_layers
from askwise.bayes.program import build as program
from askwise.bayes.program import dropout
from askwise.bayes.program.build import plain_pass
from askwise.errors import SlowPathWarning

T = 7
FEW = 6  # items for networks that run one by one


def weight_draws(network: nn.Module, names: list[str]) -> dict[str, Tensor]:
    rng = torch.Generator().manual_seed(3)
    own = dict(network.named_parameters())
    return {
        name: own[name].detach() + 0.3 * torch.randn(T, *own[name].shape, generator=rng) for name in names
    }


def run(
    case: Case, network: nn.Module, draws: dict[str, Tensor], dropouts=(), **options
) -> tuple[str, Tensor]:
    x = case.inputs(program.BATCH)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SlowPathWarning)
        made = program.build(network, x[:1], draws, dropouts=dropouts, count=T, **options)
    x = x[:FEW] if made.batch == 1 else x
    outputs = made.bind(draws)
    with torch.no_grad():
        found = torch.cat([outputs(x[at : at + made.batch]) for at in range(0, len(x), made.batch)])
    return made.form, found


def plain(case: Case, network: nn.Module, draws: dict[str, Tensor], dropouts=()) -> Tensor:
    x = case.inputs(program.BATCH)
    parts = x[:FEW].split(1) if case is CASES["branching"] else [x]  # its branch depends on the company
    return torch.cat(
        [torch.stack([plain_pass(network, dropouts, draws, t, part) for t in range(T)], 1) for part in parts]
    )


@pytest.mark.parametrize("name", CASES)
def test_masks_give_the_outputs_of_plain_passes(name: str) -> None:
    case = CASES[name]
    network = case.network()
    dropouts = dropout.find(network, case.inputs(1))
    draws = dropout.draw(dropouts, numbers=range(T), seed=1)
    _, found = run(case, network, draws, dropouts)
    expected = plain(case, network, draws, dropouts)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    assert found.std(dim=1).max() > 1e-3  # a control: the draws do differ


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("which", ["last layer", "every called layer", "first layer with masks"])
def test_drawn_weights_give_the_outputs_of_plain_passes(name: str, which: str) -> None:
    case = CASES[name]
    network = case.network()
    layers = list(called_layers(network, case.inputs(1)))
    chosen = {"last layer": layers[-1:], "every called layer": layers}.get(which, layers[:1])
    dropouts = dropout.find(network, case.inputs(1)) if "masks" in which else ()
    draws = weight_draws(network, [f"{layer}.weight" for layer in chosen])
    draws |= dropout.draw(dropouts, numbers=range(T), seed=1)
    _, found = run(case, network, draws, dropouts)
    expected = plain(case, network, draws, dropouts)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    assert found.std(dim=1).max() > 1e-3


def test_drawn_recurrent_weights_and_biases_work_too() -> None:
    case = CASES["gru"]
    network = case.network()
    draws = weight_draws(network, ["gru.weight_ih_l0", "gru.bias_hh_l1", "head.bias"])
    _, found = run(case, network, draws)
    torch.testing.assert_close(found, plain(case, network, draws), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "layer", "masks", "form"),
    [
        ("dense", None, True, "dense chain"),
        ("deep dense", None, True, "dense chain"),
        ("dense", "0", False, "dense chain"),
        ("skip", "head", False, "dense chain"),
        ("pooled", None, True, "kept channels"),
        ("pooled", "12", True, "vmap"),  # a drawn layer among the masks
        ("skip", None, True, "vmap"),
        ("attention", None, True, "vmap"),
        ("normalised", "4", False, "loop"),  # a convolution's weights: a loop is faster
        ("branching", None, True, "plain loop"),
        ("dense", None, False, "no draws"),
    ],
)
def test_the_form_follows_the_suffix(name: str, layer: str | None, masks: bool, form: str) -> None:
    case = CASES[name]
    network = case.network()
    dropouts = dropout.find(network, case.inputs(1)) if masks else ()
    draws = dropout.draw(dropouts, numbers=range(T), seed=0)
    draws |= weight_draws(network, [f"{layer}.weight"] if layer else [])
    assert run(case, network, draws, dropouts)[0] == form


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.slow])
def test_a_slow_path_is_said_once(name: str) -> None:
    case = CASES[name]
    network = case.network()
    dropouts = dropout.find(network, case.inputs(1))
    draws = dropout.draw(dropouts, numbers=range(T), seed=0)
    with pytest.warns(SlowPathWarning, match=case.slow) as said:
        program.build(network, case.inputs(1), draws, dropouts=dropouts, count=T)
    assert len(said) == 1


@pytest.mark.parametrize("name", ["deep dense", "skip", "attention", "unpool"])
def test_a_small_budget_changes_memory_and_not_results(name: str) -> None:
    case = CASES[name]
    network = case.network()
    dropouts = dropout.find(network, case.inputs(1))
    draws = dropout.draw(dropouts, numbers=range(T), seed=1)
    _, generous = run(case, network, draws, dropouts)
    _, tight = run(case, network, draws, dropouts, budget=20_000)
    torch.testing.assert_close(tight, generous, rtol=1e-5, atol=1e-5)


def test_a_small_budget_means_smaller_batches() -> None:
    case = CASES["unpool"]
    network = case.network()
    draws = weight_draws(network, ["head.weight"])
    sizes = [
        program.build(network, case.inputs(1), draws, count=T, budget=budget).batch
        for budget in (2**28, 2**18, 2**10)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == program.BATCH
    assert sizes[-1] == 1


@pytest.mark.parametrize("name", ["normalised", "lstm", "branching"])
@pytest.mark.parametrize("breaks", [False, True])
def test_predicting_leaves_network_and_random_state_as_they_were(name: str, breaks: bool) -> None:
    case = CASES[name]
    network = case.network()
    next(iter(network.modules())).training = True  # an odd mode must come back too
    before = copy.deepcopy(network.state_dict())
    modes = [module.training for module in network.modules()]
    state = torch.get_rng_state()
    dropouts = dropout.find(network, case.inputs(1))
    draws = dropout.draw(dropouts, numbers=range(T), seed=1)
    if breaks:
        with pytest.raises((RuntimeError, ValueError)):
            program.build(network, torch.zeros(1, 2, 2), draws, dropouts=dropouts, count=T)
    else:
        run(case, network, draws, dropouts)
    assert all(torch.equal(value, before[key]) for key, value in network.state_dict().items())
    assert [module.training for module in network.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)
