"""A traced network cut into four stages by what each operation depends on.

fixed: neither items nor draws, computed once; drawn: the draws alone, once per draw; prefix: the
items alone, once per item; suffix: both, once per item and draw. Skip connections and several
stochastic layers need no special care: the cut is wherever the dependence begins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import fx

from askwise.bayes.program.trace import INPUT

StageName: TypeAlias = Literal["fixed", "drawn", "prefix", "suffix"]
_RELU, _RELU_IN_PLACE = torch.ops.aten.relu.default, torch.ops.aten.relu_.default
_FRESH = (torch.ops.aten.convolution.default, torch.ops.aten.addmm.default)


@dataclass(frozen=True)
class Stage:
    """One part of the network: a function from the values named `takes` to those named `gives`."""

    run: fx.GraphModule
    takes: tuple[str, ...]
    gives: tuple[str, ...]


@dataclass(frozen=True)
class Split:
    """The four stages, and which stage each value comes from."""

    stages: dict[StageName, Stage]
    origin: dict[str, StageName]
    output: str

    @property
    def suffix(self) -> Stage:
        """The part that runs for every item and draw."""
        return self.stages["suffix"]


def split(traced: fx.GraphModule, drawn_names: Sequence[str]) -> Split:
    """The stages of a traced network when the named tensors are drawn."""
    home: dict[fx.Node, StageName] = {}
    for node in traced.graph.nodes:
        if node.op == "output":
            continue
        name = node.meta.get("name") if node.op == "placeholder" else None
        items = name == INPUT or any(home[n] in ("prefix", "suffix") for n in node.all_input_nodes)
        # What a drawn value makes as large as a batch is not kept for all draws: it is the suffix's work.
        items = items or bool(node.meta.get("per_item"))
        draws = name in drawn_names or any(home[n] in ("drawn", "suffix") for n in node.all_input_nodes)
        home[node] = _stage(items=items, draws=draws)
    output = traced.graph.output_node().all_input_nodes[0]
    stages: dict[StageName, Stage] = {}
    for stage in ("fixed", "drawn", "prefix", "suffix"):
        stages[stage] = _cut(traced, home, stage, output)
    origin = {_label(node): stage for node, stage in home.items()}
    return Split(stages=stages, origin=origin, output=_label(output))


def _stage(*, items: bool, draws: bool) -> StageName:
    if items:
        return "suffix" if draws else "prefix"
    return "drawn" if draws else "fixed"


def _label(node: fx.Node) -> str:
    """The name of a node's value: the network's own for its tensors, the graph's for the rest."""
    return str(node.meta["name"]) if node.op == "placeholder" else f"%{node.name}"


def _cut(traced: fx.GraphModule, home: dict[fx.Node, StageName], stage: StageName, output: fx.Node) -> Stage:
    """One stage as a module of its own."""
    inside = [n for n, s in home.items() if s == stage and n.op != "placeholder"]
    outside = {
        n for node in inside for n in node.all_input_nodes if n.op == "placeholder" or home[n] != stage
    }
    takes = [node for node in home if node in outside]
    gives = [n for n in inside if n is output or any(home.get(user, stage) != stage for user in n.users)]
    graph = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {}
    for node in takes:
        copies[node] = graph.placeholder(node.name)
        copies[node].meta["name"] = _label(node)
    for node in inside:
        copies[node] = graph.node_copy(node, lambda n: copies[n])
        copies[node].meta["name"] = _label(node)
    graph.output(tuple(copies[node] for node in gives))
    _reuse_memory(graph)
    module = fx.GraphModule(traced, graph)
    return Stage(module, tuple(map(_label, takes)), tuple(map(_label, gives)))


def _reuse_memory(graph: fx.Graph) -> None:
    """A relu right after a convolution or a dense layer overwrites it: nobody else reads that value."""
    for node in graph.nodes:
        if node.target is not _RELU:
            continue
        (source,) = node.all_input_nodes
        if source.target in _FRESH and len(source.users) == 1:
            node.target = _RELU_IN_PLACE
