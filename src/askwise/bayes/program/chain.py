"""A suffix that is a row of layers, dropout masks and activations: found here, computed beside.

`dense_draws` runs a chain of dense layers where weights are drawn, `dense_masks` where masks are, and
`channel_masks` (with `channel_sums`) one with convolutions or pooling under masks.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor, fx

from askwise.bayes.program.split import Split

_aten = torch.ops.aten
_RESHAPES = (_aten.view.default, _aten._unsafe_view.default, _aten.clone.default, _aten.squeeze.dims)
_IN_PLACE: dict[Any, Any] = {_aten.relu.default: _aten.relu_.default}
_MAX_POOLS = (_aten.max_pool2d_with_indices.default, _aten.max_pool3d_with_indices.default)
_MEAN_POOLS = (_aten.avg_pool2d.default, _aten.avg_pool3d.default, _aten._adaptive_avg_pool2d.default)


@dataclass(frozen=True)
class Mask:
    """Multiply by a drawn value; `shape` is an item's shape where it happens."""

    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Dense:
    """Multiply by a matrix [D, E] and add a bias [E]; each is fixed (a tensor) or drawn (a name)."""

    weight: Tensor | str
    bias: Tensor | str | None


@dataclass(frozen=True)
class Convolve:
    """Convolve with a weight [E, C, ...], which is fixed, and add a bias [E]; a chain has one group."""

    weight: Tensor
    bias: Tensor | None
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1

    def __call__(self, value: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The same convolution with other weights."""
        still = [0] * len(self.stride)
        found: Tensor = _aten.convolution(
            value, weight, bias, self.stride, self.padding, self.dilation, False, still, self.groups
        )
        return found


@dataclass(frozen=True)
class Pool:
    """The largest or the mean of neighbouring pixels, channel by channel."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __call__(self, value: Tensor) -> Tensor:
        """The pooled value."""
        found = self.function(value, *self.args, **self.kwargs)
        pooled: Tensor = found[0] if isinstance(found, tuple) else found
        return pooled


@dataclass(frozen=True)
class Activate:
    """An elementwise function."""

    function: Callable[..., Tensor]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __call__(self, value: Tensor) -> Tensor:
        """The function of a value, which it may overwrite."""
        return self.function(value, *self.args, **self.kwargs)


def through(steps: Iterable[Activate | Pool], value: Tensor) -> Tensor:
    """A value after some steps, which may overwrite it."""
    for step in steps:
        value = step(value)
    return value


@dataclass(frozen=True)
class Reshape:
    """Another shape of the same numbers in the same order: nothing to do on a flat item.

    `plain` says that it keeps the shape, or makes an item flat.
    """

    plain: bool


Flat: TypeAlias = Mask | Dense | Activate
"""What takes an item as a row of numbers, whatever its shape."""
Step: TypeAlias = Flat | Convolve | Pool


@dataclass(frozen=True)
class Chain:
    """The steps from one value of the prefix to the output."""

    source: str
    steps: tuple[Step, ...]

    @property
    def flat(self) -> tuple[Flat, ...]:
        """The steps, if all of them take an item as a row of numbers; otherwise none."""
        flat = tuple(step for step in self.steps if isinstance(step, Flat))
        return flat if len(flat) == len(self.steps) else ()


def match(cut: Split, fixed: Mapping[str, Tensor], *, batch: int) -> Chain | None:
    """The suffix as a chain, or None where it is anything else."""
    nodes = list(cut.suffix.run.graph.nodes)
    sources = [n for n in nodes if n.op == "placeholder" and cut.origin[n.meta["name"]] == "prefix"]
    if len(sources) != 1 or len(cut.suffix.gives) != 1:
        return None
    current: fx.Node = sources[0]
    steps: list[Step] = []
    plain = True
    for node in nodes:
        if node.op in ("placeholder", "output"):
            continue
        step = _step(node, current, cut, fixed, batch)
        if step is None or len(current.users) != 1:
            return None
        if isinstance(step, Reshape):
            plain = plain and step.plain
        else:
            steps.append(step)
        current = node
    chain = Chain(sources[0].meta["name"], tuple(steps))
    layers = [step for step in steps if isinstance(step, Dense)]
    return chain if layers and current.meta["val"].ndim == 2 and (chain.flat or plain) else None


def _step(
    node: fx.Node, current: fx.Node, cut: Split, fixed: Mapping[str, Tensor], batch: int
) -> Step | Reshape | None:
    """What one operation does to the current value; None if it does not fit a chain."""

    def value(other: Any) -> Tensor | str:
        name = other.meta["name"]
        return name if cut.origin[name] == "drawn" else fixed[name]

    shape = _shape(node)
    others = [n for n in node.all_input_nodes if n is not current]
    if current not in node.all_input_nodes or shape[:1] != (batch,):
        return None
    if node.target in _RESHAPES:
        return Reshape(plain=len(shape) == 2 or shape == _shape(current))
    if node.target in _MAX_POOLS or node.target in _MEAN_POOLS:
        return Pool(node.target, node.args[1:], node.kwargs)
    if node.target is operator.getitem and current.target in _MAX_POOLS and node.args[1] == 0:
        return Reshape(plain=True)
    if node.target is _aten.convolution.default and node.args[0] is current:
        return _convolve(node, value)
    if node.target is _aten.mul.Tensor and len(others) == 1 and cut.origin[others[0].meta["name"]] == "drawn":
        return Mask(others[0].meta["name"], tuple(shape[1:]))
    if node.target is _aten.addmm.default and node.args[1] is current and not node.kwargs:
        return Dense(value(node.args[2]), value(node.args[0]))
    if node.target is _aten.mm.default and node.args[0] is current:
        return Dense(value(node.args[1]), None)
    if not others and node.args[0] is current and torch.Tag.pointwise in getattr(node.target, "tags", ()):
        return Activate(_IN_PLACE.get(node.target, node.target), node.args[1:], node.kwargs)
    return None


def _convolve(node: fx.Node, value: Callable[[Any], Tensor | str]) -> Convolve | None:
    """A convolution whose weights are fixed, of one group, and not transposed."""
    _, weight, bias, stride, padding, dilation, transposed, _, groups = node.args
    known = value(weight), None if bias is None else value(bias)
    if transposed or groups != 1 or isinstance(known[0], str) or isinstance(known[1], str):
        return None
    return Convolve(*known, tuple(stride), tuple(padding), tuple(dilation))  # type: ignore[arg-type]


def _shape(node: fx.Node) -> tuple[int, ...]:
    """The shape of an operation's value; of several results that of a pooled one, otherwise none."""
    val = node.meta.get("val")
    if node.target in _MAX_POOLS and isinstance(val, tuple):
        val = val[0]
    return tuple(val.shape) if isinstance(val, Tensor) else ()
