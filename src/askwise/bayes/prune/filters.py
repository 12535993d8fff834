"""Whole filters and units removed for real: the network that is left is smaller and faster."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, fx, nn

from askwise.bayes.fitted import Fitted
from askwise.bayes.program.trace import UntraceableError, call, outputs_of, predicting, tensors_of, trace
from askwise.bayes.prune.channels import Course, Reader, course
from askwise.bayes.prune.weights import changed_state, fraction, weight_scores, weights_of, zeroed
from askwise.errors import InputError
from askwise.nets.narrow import narrow

_ITEMS = 8  # to compare the smaller network with the zeroed one
_AGREE = 1e-4  # of the largest output: what the order of additions may change
_EVEN = 1e-5


def prune_filters(
    fitted: Fitted,
    inputs: Tensor,
    *,
    by: str = "snr",
    amount: float = 0.5,
    layers: Sequence[str] | None = None,
    dense: bool = False,
) -> Fitted:
    """A smaller model without the lowest `amount` of the filters of every chosen layer.

    A filter counts the mean of |mean| / std ("snr") or of |mean| ("l1") over its weights; at least one
    stays. By default the layers are all convolutions that the criterion can judge, and with
    `dense=True` the units of dense layers too, but never the layer that gives the outputs. `inputs`
    is an item or more [N, ...] to follow the network with. The outputs under the means are those with
    the filters set to zero: what an activation makes of zero moves into the bias of the next layer
    (the noise of that layer's weights on it does not; after relu there is nothing to move).

    >>> from torch import nn
    >>> small = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 2))
    >>> pictures = x.repeat_interleave(4, 1).view(60, 1, 4, 4)
    >>> model = aw.fit(small, (pictures, y), posterior="point", training=short)
    >>> aw.prune_filters(model, pictures, by="l1").network[0].out_channels
    4
    """
    share = fraction("amount", amount)
    items = _items(fitted, inputs)
    scores = weight_scores(fitted, by=by, layers=layers)
    try:
        traced = trace(fitted.network, tensors_of(fitted.network), items)
    except UntraceableError as error:
        raise InputError(f"filters cannot be removed from a network without one graph: {error}") from error
    courses = _courses(fitted, traced.graph, scores, named=layers is not None, dense=dense)
    removed = {way.layer: _removed(scores[way.weight].flatten(1).mean(dim=1), share) for way in courses}
    silent = zeroed(fitted, _masks(fitted.network, courses, removed))
    tensors = tensors_of(silent.network)
    for bias, constant in _constants(traced, tensors, items, courses, removed).items():
        tensors[bias] = tensors[bias] + constant
    kept = _kept(tensors, courses, removed)

    def take(name: str, tensor: Tensor) -> Tensor:
        for axis, positions in kept.get(name, {}).items():
            tensor = tensor.index_select(axis, positions)
        return tensor

    small = _filled(fitted.network, {name: take(name, tensor) for name, tensor in tensors.items()})
    _check_equal(small, silent.network, items, list(removed))
    state = changed_state(silent, lambda posterior, state: posterior.narrowed(state, take))
    return replace(fitted, network=small.eval(), state=state, programs={})


def _items(fitted: Fitted, inputs: Tensor) -> Tensor:
    """Two items or more, on the model's device: with one, a graph would not show the item axis."""
    if inputs.ndim < 2 or len(inputs) == 0:
        raise InputError(f"inputs must hold at least one item [N, ...]; their shape is {list(inputs.shape)}")
    items = inputs[:_ITEMS].to(next(fitted.network.parameters()).device)
    items = torch.cat([items, items]) if len(items) == 1 else items
    outputs_of(fitted.network, items)
    return items


def _courses(
    fitted: Fitted, graph: fx.Graph, scores: Mapping[str, Tensor], *, named: bool, dense: bool
) -> list[Course]:
    """The chosen layers, each with the way of its channels."""
    used = {node.meta["name"] for node in graph.nodes if node.op == "placeholder" and node.users}
    found = []
    for layer, weight in weights_of(fitted.network).items():
        is_dense = isinstance(fitted.network.get_submodule(layer), nn.Linear)
        if weight not in scores or not (named or (weight in used and (dense or not is_dense))):
            continue
        way = course(graph, layer, weight)
        if way.output and named:
            raise InputError(f"the channels of {layer!r} are the network's outputs and cannot be removed")
        if not way.output:
            found.append(way)
    if not found:
        raise InputError("there is no layer whose filters can be removed; dense=True takes dense units too")
    return found


def _removed(scores: Tensor, share: float) -> Tensor:
    """Positions of the filters that go, in order; of equal ones the first."""
    count = min(math.floor(share * len(scores) + 1e-9), len(scores) - 1)
    return scores.argsort(stable=True)[:count].sort().values


def _cuts(way: Course) -> list[tuple[str, int, int]]:
    """Every tensor that holds something of a layer's channels, on which axis, and how much of each."""
    cuts = [(way.weight, 0, 1)] + ([(way.bias, 0, 1)] if way.bias is not None else [])
    return cuts + [(norm.name, 0, norm.block) for norm in way.norms]


def _masks(network: nn.Module, courses: Sequence[Course], removed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Where the parameters of the removed filters and of their norms are."""
    own = {name: parameter.detach() for name, parameter in network.named_parameters()}
    masks = {}
    for way in courses:
        for name, _, block in _cuts(way):
            if name in own:
                masks[name] = torch.zeros_like(own[name], dtype=torch.bool)
                masks[name][_entries(removed[way.layer], block)] = True
    return masks


def _kept(
    tensors: Mapping[str, Tensor], courses: Sequence[Course], removed: Mapping[str, Tensor]
) -> dict[str, dict[int, Tensor]]:
    """The positions that stay, by tensor and axis."""
    kept: dict[str, dict[int, Tensor]] = {}
    for way in courses:
        read = [(reader.weight, 1, reader.block) for reader in way.readers]
        for name, axis, block in _cuts(way) + read:
            stays = torch.ones(tensors[name].shape[axis], dtype=torch.bool, device=tensors[name].device)
            stays[_entries(removed[way.layer], block)] = False
            kept.setdefault(name, {})[axis] = stays.nonzero().flatten()
    return kept


def _entries(channels: Tensor, block: int) -> Tensor:
    """Positions of the entries of these channels where each has `block` of them."""
    return (channels[:, None] * block + torch.arange(block, device=channels.device)).flatten()


def _constants(
    traced: fx.GraphModule,
    tensors: Mapping[str, Tensor],
    items: Tensor,
    courses: Sequence[Course],
    removed: Mapping[str, Tensor],
) -> dict[str, Tensor]:
    """What zeroed filters still tell the layers that read them, by the names of these layers' biases.

    Nothing after relu; after softplus log 2, which the next layer weighs and adds up.
    """
    run = fx.Interpreter(traced, garbage_collect_values=False)
    constants: dict[str, Tensor] = {}
    with torch.no_grad():
        run.run(*tensors.values(), items)
        for way in courses:
            for reader in way.readers:
                told = _told(run.env, reader, _entries(removed[way.layer], reader.block))
                if not bool(told.any()):
                    continue
                uneven = told.amax(dim=1) - told.amin(dim=1) > _EVEN * told.abs().max()
                if reader.bias is None or bool(uneven.any()):
                    why = (
                        "has no bias" if reader.bias is None else "pads its inputs, which leaves no one bias"
                    )
                    raise InputError(
                        f"filters of {way.layer!r} cannot be removed: zero does not stay zero after them, "
                        f"and {reader.weight.rpartition('.')[0]!r} {why} to make up for it"
                    )
                before = constants.get(reader.bias, torch.zeros_like(told[:, 0]))
                constants[reader.bias] = before + told.mean(dim=1)
    return constants


def _told(values: Mapping[fx.Node, Any], reader: Reader, entries: Tensor) -> Tensor:
    """What a layer makes of some of its inputs alone [E, places], without its bias."""
    known = values[reader.source][:1]
    only = torch.zeros_like(known)
    only[:, entries] = known[:, entries]
    arguments: list[Any] = [values[a] if isinstance(a, fx.Node) else a for a in reader.node.args]
    if reader.node.target is torch.ops.aten.convolution.default:
        told: Tensor = reader.node.target(only, arguments[1], None, *arguments[3:])
        return told[0].flatten(1)
    return torch.mm(only, arguments[-1]).transpose(0, 1)


def _filled(network: nn.Module, tensors: Mapping[str, Tensor]) -> nn.Module:
    """The network with these tensors; those of other shapes make it narrower."""
    own = tensors_of(network)
    shapes = {name: list(t.shape) for name, t in tensors.items() if t.shape != own[name].shape}
    small = narrow(network, shapes=shapes)
    small.load_state_dict(dict(tensors), strict=False)
    return small


def _check_equal(small: nn.Module, silent: nn.Module, items: Tensor, layers: Sequence[str]) -> None:
    """An error if the smaller network does not compute what the zeroed one does."""
    wanted = outputs_of(silent, items)
    with predicting(small, dropout=False):
        try:
            found: Tensor | None = call(small, tensors_of(small), items)
        except RuntimeError:
            found = None
    allowed = _AGREE * max(1.0, wanted.abs().max().item())
    if found is None or found.shape != wanted.shape or bool(((found - wanted).abs() > allowed).any()):
        raise InputError(
            f"filters of {', '.join(layers)} cannot be removed: the network's own code counts on them"
        )
