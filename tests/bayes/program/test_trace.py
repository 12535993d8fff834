"""Networks become graphs without writes or randomness of their own, or are refused with a reason."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from zoo import CASES

from askwise.bayes.program import dropout
from askwise.bayes.program.trace import UntraceableError, outputs_of, tensors_of, trace
from askwise.errors import InputError


@pytest.mark.parametrize("name", [name for name in CASES if name != "branching"])
def test_a_traced_network_has_no_writes_and_one_placeholder_per_dropout(name: str) -> None:
    case = CASES[name]
    network = case.network()
    dropouts = dropout.find(network, case.inputs(1))
    graph = trace(network, tensors_of(network), case.inputs(4), dropouts=dropouts).graph
    assert not [n for n in graph.nodes if getattr(getattr(n.target, "_schema", None), "is_mutable", False)]
    named = [n.meta["name"] for n in graph.nodes if n.op == "placeholder"]
    assert [n for n in named if n.startswith("dropout.")] == [one.name for one in dropouts]


def test_python_decisions_on_values_are_untraceable() -> None:
    case = CASES["branching"]
    network = case.network()
    with pytest.raises(UntraceableError):
        trace(network, tensors_of(network), case.inputs(4))


def test_writing_to_a_buffer_is_untraceable_and_harmless() -> None:
    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(1))

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            return x * self.calls

    network = Counts()
    with pytest.raises(UntraceableError, match="writes to 'calls'"):
        trace(network, tensors_of(network), torch.zeros(2, 3))
    assert network.calls.item() == 0


def test_randomness_other_than_dropout_is_refused_by_name() -> None:
    class Noisy(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + torch.randn_like(x)

    with pytest.raises(InputError, match="randn_like"):
        trace(Noisy(), {}, torch.zeros(2, 3))


def test_dropout_that_ignores_eval_mode_is_refused_without_mc_dropout() -> None:
    class Always(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return F.dropout(x, 0.5, True)

    with pytest.raises(InputError, match="mc_dropout"):
        trace(Always(), {}, torch.zeros(2, 3))


def test_a_network_that_returns_no_tensor_is_refused() -> None:
    with pytest.raises(InputError, match="returned a tuple"):
        outputs_of(nn.LSTM(3, 4), torch.zeros(1, 2, 3))


@pytest.mark.parametrize(
    ("item", "match"),
    [(torch.zeros(1, 5), "shape \\[1, 5\\]"), (torch.zeros(1, 6, dtype=torch.float64), "float64")],
)
def test_an_input_the_network_cannot_take_is_refused(item: Tensor, match: str) -> None:
    with pytest.raises(InputError, match=match):
        outputs_of(nn.Linear(6, 3), item)
