"""The cut is where dependence on the draws begins, on any graph."""

import torch
from torch import nn
from zoo import CASES

import askwise as aw
from askwise.bayes.program import dropout
from askwise.bayes.program.split import Split, split
from askwise.bayes.program.trace import tensors_of, trace


def cut(network: nn.Module, inputs: torch.Tensor, drawn: list[str], masks: bool = False) -> Split:
    dropouts = dropout.find(network, inputs) if masks else ()
    traced = trace(network, tensors_of(network), inputs, dropouts=dropouts)
    return split(traced, drawn + [one.name for one in dropouts])


def operations(found: Split, stage: str) -> list[str]:
    nodes = found.stages[stage].run.graph.nodes
    return [str(n.target).split(".")[1] for n in nodes if n.op == "call_function" and "aten" in str(n.target)]


def test_a_drawn_last_layer_leaves_everything_else_in_the_prefix() -> None:
    found = cut(aw.nets.gal_cnn().eval(), torch.zeros(2, 1, 28, 28), ["dense2.weight"])
    assert operations(found, "suffix") == ["addmm"]
    assert operations(found, "prefix").count("convolution") == 2
    assert operations(found, "drawn") == ["t"]
    assert operations(found, "fixed") == ["t"]  # of dense1


def test_masks_leave_the_convolutions_in_the_prefix() -> None:
    found = cut(aw.nets.gal_cnn().eval(), torch.zeros(2, 1, 28, 28), [], masks=True)
    assert "convolution" not in operations(found, "suffix")
    assert operations(found, "suffix").count("addmm") == 2


def test_a_drawn_first_layer_leaves_no_prefix() -> None:
    found = cut(aw.nets.gal_cnn().eval(), torch.zeros(2, 1, 28, 28), ["conv1.weight"])
    assert operations(found, "prefix") == []
    assert operations(found, "suffix").count("convolution") == 2


def test_a_skip_connection_crosses_the_cut() -> None:
    case = CASES["skip"]
    found = cut(case.network(), case.inputs(2), [], masks=True)
    crossing = [name for name in found.suffix.takes if found.origin[name] == "prefix"]
    assert len(crossing) == 2  # the hidden layer itself, and what dropout is applied to


def test_without_draws_all_is_prefix() -> None:
    found = cut(aw.nets.mlp(6, 3).eval(), torch.zeros(2, 6), [])
    assert found.origin[found.output] == "prefix"
    assert operations(found, "suffix") == operations(found, "drawn") == []


def test_a_relu_reuses_memory_only_where_nobody_else_reads_it() -> None:
    class Reads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Linear(6, 6)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            h = self.body(x)
            return h.relu() + h

    assert "relu_" in operations(
        cut(nn.Sequential(nn.Linear(6, 6), nn.ReLU()), torch.zeros(2, 6), []), "prefix"
    )
    assert "relu_" not in operations(cut(Reads(), torch.zeros(2, 6), []), "prefix")
