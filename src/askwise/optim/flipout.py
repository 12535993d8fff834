"""Weight noise of its own for every item: one sample, its signs flipped at random (Wen et al. 2018)."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import Parameter
from torch.nn import functional as F

from askwise.errors import InputError
from askwise.optim.layers import own_parameters
from askwise.optim.squares import Layer


@contextmanager
def flipped(
    network: nn.Module,
    layers: Mapping[str, Layer],
    noise: Mapping[Parameter, Tensor],
    rng: torch.Generator,
) -> Iterator[None]:
    """The network as if every item met weights of its own: those of the layers plus flipped noise.

    An item's weights are distributed as those of a plain sample. But a batch averages over many, so
    that its gradient has far less noise. Noise that requires a gradient gets it.
    """
    batch = _Batch()
    hooks = [network.register_forward_pre_hook(batch.note, with_kwargs=True)]
    try:
        for name, layer in layers.items():
            hooks.append(layer.register_forward_hook(_flipping(name, noise, rng, batch), with_kwargs=True))
        yield
    finally:
        for hook in hooks:
            hook.remove()


class _Batch:
    """How many items the network is called on."""

    items = 0

    def note(self, _network: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        tensors = (value for value in (*args, *kwargs.values()) if isinstance(value, Tensor))
        self.items = next((len(value) for value in tensors), 0)


def _flipping(
    name: str, noise: Mapping[Parameter, Tensor], rng: torch.Generator, batch: _Batch
) -> Callable[..., Tensor]:
    signs: dict[str, Tensor] = {}  # kept for later calls: an item meets the same weights each time

    def flip(layer: Layer, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> Tensor:
        inputs: Tensor = args[0] if args else kwargs["input"]
        if inputs.ndim < layer.weight.ndim or len(inputs) != batch.items:
            raise InputError(
                f"layer {name!r} is called on {list(inputs.shape)} for a batch of {batch.items} items; it "
                'needs the items on its first axis: use noise="sample", or leave it out of `layers`'
            )
        if not signs:
            wide = layer.weight.shape
            signs["in"] = _coins(len(inputs), wide[1] * getattr(layer, "groups", 1), inputs, rng)
            signs["out"] = _coins(len(inputs), wide[0], inputs, rng)
        own = {key: noise[p] for key, p in own_parameters(layer).items()}
        dense = isinstance(layer, nn.Linear)
        more = torch.zeros_like(output)
        if "weight" in own:
            more = _product(layer, inputs * _along(signs["in"], inputs, dense=dense), own["weight"])
        if "bias" in own:
            more = more + _along(own["bias"][None], output, dense=dense)
        return output + more * _along(signs["out"], output, dense=dense)

    return flip


def _product(layer: Layer, inputs: Tensor, weight: Tensor) -> Tensor:
    if isinstance(layer, nn.Linear):
        return F.linear(inputs, weight)
    found: Tensor = layer._conv_forward(inputs, weight, None)
    return found


def _coins(items: int, wide: int, like: Tensor, rng: torch.Generator) -> Tensor:
    """+1 or -1 for each item and channel."""
    return torch.randint(0, 2, (items, wide), generator=rng, device=like.device).to(like.dtype) * 2 - 1


def _along(values: Tensor, like: Tensor, *, dense: bool) -> Tensor:
    """Values [n, channels] in the axes of a layer's inputs or outputs: the channels are last, or second."""
    between = [1] * (like.ndim - 2)
    shape = [len(values), *between, values.shape[1]] if dense else [len(values), values.shape[1], *between]
    return values.view(shape)
