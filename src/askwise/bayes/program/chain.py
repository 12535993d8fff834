"""A suffix that is a row of dense layers, dropout masks and activations: found here, computed beside.

`dense_draws` runs such a chain where weights are drawn, `dense_masks` where masks are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor, fx

from askwise.bayes.program.split import Split

_aten = torch.ops.aten
_RESHAPES = (_aten.view.default, _aten._unsafe_view.default, _aten.clone.default, _aten.squeeze.dims)
_IN_PLACE: dict[Any, Any] = {_aten.relu.default: _aten.relu_.default}


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
class Activate:
    """An elementwise function."""

    function: Callable[..., Tensor]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __call__(self, value: Tensor) -> Tensor:
        """The function of a value, which it may overwrite."""
        return self.function(value, *self.args, **self.kwargs)


@dataclass(frozen=True)
class Reshape:
    """Another shape of the same numbers in the same order: nothing to do on a flat item."""


Step: TypeAlias = Mask | Dense | Activate


@dataclass(frozen=True)
class Chain:
    """The steps from one value of the prefix to the output."""

    source: str
    steps: tuple[Step, ...]


def match(cut: Split, fixed: Mapping[str, Tensor], *, batch: int) -> Chain | None:
    """The suffix as a chain, or None where it is anything else."""
    nodes = list(cut.suffix.run.graph.nodes)
    sources = [n for n in nodes if n.op == "placeholder" and cut.origin[n.meta["name"]] == "prefix"]
    if len(sources) != 1 or len(cut.suffix.gives) != 1:
        return None
    current: fx.Node = sources[0]
    steps: list[Step] = []
    for node in nodes:
        if node.op in ("placeholder", "output"):
            continue
        step = _step(node, current, cut, fixed, batch)
        if step is None or len(current.users) != 1:
            return None
        if not isinstance(step, Reshape):
            steps.append(step)
        current = node
    dense = [step for step in steps if isinstance(step, Dense)]
    return Chain(sources[0].meta["name"], tuple(steps)) if dense and current.meta["val"].ndim == 2 else None


def _step(
    node: fx.Node, current: fx.Node, cut: Split, fixed: Mapping[str, Tensor], batch: int
) -> Step | Reshape | None:
    """What one operation does to the current value; None if it does not fit a chain."""

    def value(other: Any) -> Tensor | str:
        name = other.meta["name"]
        return name if cut.origin[name] == "drawn" else fixed[name]

    shape = getattr(node.meta.get("val"), "shape", ())  # an operation with several results has none
    others = [n for n in node.all_input_nodes if n is not current]
    if current not in node.all_input_nodes or shape[:1] != (batch,):
        return None
    if node.target in _RESHAPES:
        return Reshape()
    if node.target is _aten.mul.Tensor and len(others) == 1 and cut.origin[others[0].meta["name"]] == "drawn":
        return Mask(others[0].meta["name"], tuple(shape[1:]))
    if node.target is _aten.addmm.default and node.args[1] is current and not node.kwargs:
        return Dense(value(node.args[2]), value(node.args[0]))
    if node.target is _aten.mm.default and node.args[0] is current:
        return Dense(value(node.args[1]), None)
    if not others and node.args[0] is current and torch.Tag.pointwise in getattr(node.target, "tags", ()):
        return Activate(_IN_PLACE.get(node.target, node.target), node.args[1:], node.kwargs)
    return None
