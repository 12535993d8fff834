"""Where the output channels of a layer go: through norms, activations and poolings to the next layers.

Followed in the traced graph, so it does not matter whether a network is an `nn.Sequential` or Python
of one's own. What mixes channels in other ways (additions, concatenations, attention) is refused.
"""

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, fx

from askwise.errors import InputError

_ATEN = torch.ops.aten
_CONVOLUTION, _DENSE, _DENSE_NO_BIAS = _ATEN.convolution.default, _ATEN.addmm.default, _ATEN.mm.default
_LAYERS = (_CONVOLUTION, _DENSE, _DENSE_NO_BIAS)
_NORM = _ATEN.native_batch_norm.default
_VIEWS = (
    _ATEN.view.default,
    _ATEN._unsafe_view.default,
    _ATEN.reshape.default,
    _ATEN.unsqueeze.default,
    _ATEN.squeeze.dim,
    _ATEN.squeeze.dims,
)
_KEEP_CHANNELS = (
    _ATEN.clone.default,
    _ATEN.max_pool2d_with_indices.default,
    _ATEN.max_pool3d_with_indices.default,
    _ATEN.avg_pool1d.default,
    _ATEN.avg_pool2d.default,
    _ATEN.avg_pool3d.default,
    _ATEN._adaptive_avg_pool2d.default,
    _ATEN._adaptive_avg_pool3d.default,
    _ATEN.adaptive_max_pool2d.default,
    _ATEN.adaptive_max_pool3d.default,
    _ATEN.upsample_nearest2d.default,
    _ATEN.upsample_nearest2d.vec,
    _ATEN.upsample_bilinear2d.default,
    _ATEN.upsample_bilinear2d.vec,
)


@dataclass(frozen=True)
class Norm:
    """A tensor of a batch norm with `block` values for every channel."""

    name: str
    block: int


@dataclass(frozen=True)
class Reader:
    """A layer that reads the channels: inputs c * block up to (c + 1) * block of its weight."""

    node: fx.Node
    source: fx.Node
    weight: str
    bias: str | None
    block: int


@dataclass(frozen=True)
class Course:
    """The way of one layer's output channels through a network."""

    layer: str
    weight: str
    bias: str | None
    norms: tuple[Norm, ...]
    readers: tuple[Reader, ...]
    output: bool
    """Whether the channels are the network's own outputs."""


def course(graph: fx.Graph, layer: str, weight: str) -> Course:
    """The way of a layer's channels; an error names the layer and what cannot be followed."""
    start = _the_call(graph, layer, weight)
    norms: list[Norm] = []
    readers: list[Reader] = []
    output = False
    ahead = [(start, 1)]
    while ahead:
        node, block = ahead.pop()
        for user in node.users:
            if user.op == "output":
                output = True
            elif user.target in _LAYERS:
                readers.append(_reader(user, node, block, layer))
            else:
                norms += [Norm(name, block) for name in _norm_tensors(user, layer)]
                ahead += [(value, _block(value, node, block, layer)) for value in _values(user, layer)]
    return Course(layer, weight, _bias(start), tuple(norms), tuple(readers), output)


def _the_call(graph: fx.Graph, layer: str, weight: str) -> fx.Node:
    """The one operation of the graph in which the weight is used."""
    (tensor,) = [n for n in graph.nodes if n.op == "placeholder" and n.meta["name"] == weight]
    users: list[fx.Node] = []
    for user in tensor.users:
        users += user.users if user.target is _ATEN.t.default else [user]
    if len(users) != 1 or users[0].target not in _LAYERS or _weight(users[0]) != weight:
        found = "is called more than once, or not as a layer" if users else "is not called"
        raise InputError(f"the channels of {layer!r} cannot be followed: it {found}")
    if _grouped(users[0]):
        raise InputError(f"the channels of {layer!r} cannot be followed: its convolution has groups")
    return users[0]


def _norm_tensors(user: fx.Node, layer: str) -> Iterator[str]:
    """Names of the tensors of a batch norm that hold a value for every channel."""
    for tensor in user.args[1:5] if user.target is _NORM else ():
        if isinstance(tensor, fx.Node):
            if tensor.op != "placeholder" or len(tensor.users) > 1:
                raise InputError(f"the channels of {layer!r} cannot be followed: their batch norm is shared")
            yield str(tensor.meta["name"])


def _values(user: fx.Node, layer: str) -> Iterator[fx.Node]:
    """The values in which an operation hands the channels on."""
    if not _keeps_channels(user):
        what = str(user.target).removeprefix("aten.").split(".")[0]
        raise InputError(
            f"the channels of {layer!r} cannot be followed through {what!r}; choose others by layers=[...]"
        )
    several = [part for part in user.users if part.target is operator.getitem]
    for part in several:
        if part.args[1] == 0:
            yield part
        elif part.users:
            raise InputError(f"the channels of {layer!r} cannot be followed: their pooling indices are used")
    if not several:
        yield user


def _keeps_channels(user: fx.Node) -> bool:
    if user.target is _NORM or user.target in _KEEP_CHANNELS or user.target in _VIEWS:
        return True
    if user.target is _ATEN.mean.dim:
        axes, ndim = user.args[1], len(_shape(user.all_input_nodes[0]))
        return isinstance(axes, list) and all(int(str(axis)) % ndim > 1 for axis in axes)
    return torch.Tag.pointwise in getattr(user.target, "tags", ()) and len(user.all_input_nodes) == 1


def _block(value: fx.Node, before: fx.Node, block: int, layer: str) -> int:
    """How many entries of axis 1 belong to one channel after an operation."""
    old, new = _shape(before), _shape(value)
    if old[:2] == new[:2]:
        return block
    if new == (old[0], math.prod(old[1:])):
        return block * math.prod(old[2:])
    raise InputError(f"the channels of {layer!r} cannot be followed from shape {list(old)} to {list(new)}")


def _reader(call: fx.Node, source: fx.Node, block: int, layer: str) -> Reader:
    """The layer that an operation is, if the channels are its inputs."""
    weight = _weight(call)
    inputs = call.args[1] if call.target is _DENSE else call.args[0]
    if weight is None or inputs is not source or _grouped(call):
        raise InputError(f"the channels of {layer!r} cannot be followed into {weight or call.name!r}")
    return Reader(call, source, weight, _bias(call), block)


def _grouped(call: fx.Node) -> bool:
    """Whether a convolution has groups, or is transposed: its weight then has other axes."""
    return call.target is _CONVOLUTION and bool(call.args[6] or call.args[8] != 1)


def _weight(call: fx.Node) -> str | None:
    """The name of the weight of a convolution or a dense layer, if it is the network's own."""
    node = call.args[2] if call.target is _DENSE else call.args[1]
    if isinstance(node, fx.Node) and node.target is _ATEN.t.default:
        node = node.args[0]
    return _name(node)


def _bias(call: fx.Node) -> str | None:
    return None if call.target is _DENSE_NO_BIAS else _name(call.args[0 if call.target is _DENSE else 2])


def _name(node: object) -> str | None:
    return str(node.meta["name"]) if isinstance(node, fx.Node) and node.op == "placeholder" else None


def _shape(node: fx.Node) -> tuple[int, ...]:
    value = node.meta.get("val")
    return tuple(value.shape) if isinstance(value, Tensor) else ()
