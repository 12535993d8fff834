"""Hooks that record the inputs of layers and the gradients at their outputs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.nn import Parameter

from askwise.errors import InputError
from askwise.optim.layers import own_parameters
from askwise.optim.squares import Call, Layer, mean_squares


class Recording:
    """The calls of some layers during one pass forward and back.

    The gradients squared are those of the loss, as `backward()` finds them, unless `project` takes those
    of other sums of the outputs.
    """

    def __init__(self, layers: Mapping[str, Layer], *, of_loss: bool = True) -> None:
        self._layers = dict(layers)
        self._of_loss = of_loss
        self._calls: dict[str, list[Call]] = {name: [] for name in layers}
        self._open: list[tuple[str, Tensor, GradientEdge]] = []
        self._items: int | None = None

    def project(self, outputs: Tensor, direction: Tensor) -> None:
        """Take the gradients of every item's <direction, outputs>; the graph stays for the loss."""
        if self._items is None or len(outputs) != self._items:
            raise InputError(f"the outputs of all {self._items} items are needed, not of {len(outputs)}")
        edges = [edge for _, _, edge in self._open]
        # Up to the layers' outputs alone: the weights' own gradients would cost as much again.
        found = torch.autograd.grad(
            outputs, edges, direction / self._items, retain_graph=True, allow_unused=True
        )
        for (name, inputs, _), gradient in zip(self._open, found, strict=True):
            if gradient is not None:
                self._calls[name].append((inputs, gradient))
        self._open = []

    def squares(self) -> dict[Parameter, Tensor]:
        """The mean squares of all parameters of the layers; zeros where nothing depends on them."""
        found: dict[Parameter, Tensor] = {}
        for name, layer in self._layers.items():
            own = own_parameters(layer)
            if self._calls[name]:
                squares = mean_squares(layer, self._calls[name])
            elif any(p.grad is not None for p in own.values()):
                raise InputError(
                    f"the weights of layer {name!r} are used without calling it; leave it out of `layers`"
                )
            else:
                squares = {key: torch.zeros_like(p, requires_grad=False) for key, p in own.items()}
            found.update({p: squares[key] for key, p in own.items()})
        return found

    def note_items(self, _network: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """How many items the network is called on."""
        if self._items is not None:
            raise InputError("call the network once inside sampling(), on the whole batch")
        self._items = next(
            (len(value) for value in (*args, *kwargs.values()) if isinstance(value, Tensor)), 0
        )

    def note_call(self, name: str, inputs: Tensor, output: Tensor) -> None:
        """Keep what went into a layer until the gradient at its output is known."""
        if not output.requires_grad:
            return
        if self._items is None:
            raise InputError("call the network itself inside sampling(), not its parts")
        axes = self._layers[name].weight.ndim  # of a batch: as many as the weight has
        if inputs.ndim < axes or len(inputs) != self._items:
            raise InputError(
                f"layer {name!r} is called on {list(inputs.shape)} for a batch of {self._items} items; "
                "it needs the items on its first axis, or to be left out of `layers`"
            )
        kept, calls = inputs.detach(), self._calls[name]
        if not self._of_loss:
            # The edge and not the output, which an activation may overwrite in place.
            self._open.append((name, kept, get_gradient_edge(output)))
            return
        output.register_hook(lambda gradient: calls.append((kept, gradient.detach())))  # type: ignore[no-untyped-call]


@contextmanager
def recording(
    network: nn.Module, layers: Mapping[str, Layer], *, of_loss: bool = True
) -> Iterator[Recording]:
    """A recording of the layers' calls while the network is called once and its loss differentiated."""
    record = Recording(layers, of_loss=of_loss)
    hooks = [network.register_forward_pre_hook(record.note_items, with_kwargs=True)]
    try:
        for name, layer in layers.items():
            hooks.append(layer.register_forward_hook(_hearing(record, name), with_kwargs=True))
        yield record
    finally:
        for hook in hooks:
            hook.remove()


def _hearing(record: Recording, name: str) -> Callable[..., None]:
    def hear(_layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> None:
        record.note_call(name, args[0] if args else kwargs["input"], output)

    return hear
