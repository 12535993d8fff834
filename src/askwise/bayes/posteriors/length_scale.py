"""Gal's weight decay: which dropout feeds each weight, and the decay that a length-scale asks for."""

import torch
from torch import Tensor, nn

from askwise.bayes.program.dropout import find
from askwise.bayes.program.trace import tensors_of, trace


def keep_probabilities(network: nn.Module, inputs: Tensor) -> dict[str, float]:
    """For every parameter, the keep probability of the dropout on what it is multiplied with; 1 without.

    Followed through the graph: activations, pooling and reshaping carry a mask on, a layer ends it.
    """
    dropouts = find(network, inputs)
    traced = trace(network, tensors_of(network), inputs[:1], dropouts=dropouts)
    keeps = {one.name: one.keep for one in dropouts}
    parameters = dict(network.named_parameters())
    found = dict.fromkeys(parameters, 1.0)
    tag: dict[torch.fx.Node, tuple[str | None, float]] = {}  # (a parameter's name, keep of a value)
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            name = node.meta["name"]
            tag[node] = (name if name in parameters else None, keeps.get(name, 1.0))
            continue
        inputs_ = [tag[n] for n in node.all_input_nodes]
        names = [name for name, _ in inputs_ if name is not None]
        keep = min((k for name, k in inputs_ if name is None), default=1.0)
        if names and len(node.all_input_nodes) > len(names):  # parameters meet a value: a layer
            found.update({name: min(found[name], keep) for name in names})
            tag[node] = (None, 1.0)
        else:
            tag[node] = (names[0] if names else None, keep)
    return found


def weight_decays(network: nn.Module, inputs: Tensor, *, length_scale: float, count: int) -> dict[str, float]:
    """What to add to each weight's gradient of the mean NLL, per unit of the weight; nothing for biases.

    Gal and Ghahramani 2016: the objective is the NLL of all N labels plus keep l^2 / 2 |M|^2, where
    the layer computes M (z x) with z in {0, 1}. torch's dropout divides by keep, so its weight is
    W = keep M, and the penalty l^2 / (2 keep) |W|^2. Their printed lambda = keep l^2 / (2 N tau) belongs
    to a squared error; the NLL has tau inside already.
    """
    keeps = keep_probabilities(network, inputs)
    return {
        name: length_scale**2 / (keeps[name] * count) if parameter.ndim > 1 else 0.0
        for name, parameter in network.named_parameters()
    }
