"""Which layers of a network get uncertainty: chosen by position or name, on any network."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, Protocol, runtime_checkable

from torch import Tensor, nn

from askwise.bayes.program.trace import call, predicting, tensors_of
from askwise.errors import InputError, choose, positive

KINDS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
"""Layers that can be Bayesian."""


def called_layers(network: nn.Module, inputs: Tensor) -> dict[str, nn.Module]:
    """Linear and convolution layers by name, in the order in which the network first calls them.

    A layer whose weights are used without calling it (attention's output projection) is not there:
    replacing it would change nothing.
    """
    names: dict[nn.Module, str] = {m: name for name, m in network.named_modules() if isinstance(m, KINDS)}
    order: dict[str, nn.Module] = {}

    def note(module: nn.Module, _args: object, _output: object) -> None:
        order.setdefault(names[module], module)

    hooks = [module.register_forward_hook(note) for module in names]
    try:
        with predicting(network, dropout=False):
            call(network, tensors_of(network), inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return order


def placement(
    network: nn.Module,
    inputs: Tensor,
    *,
    last: int | None = None,
    first: int | None = None,
    layers: Sequence[str] | None = None,
) -> list[str]:
    """Names of the chosen layers; all of them if nothing is said."""
    called = called_layers(network, inputs)
    if not called:
        raise InputError("the network calls no Linear or Conv layer, so none can be made Bayesian")
    if layers is not None:
        if not layers:
            raise InputError(f"layers names no layer; choose some of: {', '.join(called)}")
        return [choose("layer", name, called) for name in layers]
    for word, count in (("last", last), ("first", first)):
        if count is not None and positive(word, count) > len(called):
            raise InputError(
                f"{word}={count} wants {count} layers; the network calls {len(called)}: {', '.join(called)}"
            )
    names = list(called)
    return names[-last:] if last is not None else names[:first]


@runtime_checkable
class Placed(Protocol):
    """A record that says where a posterior sits: by one of these, or by none."""

    name: ClassVar[str]

    @property
    def last(self) -> int | None:
        """How many layers at the end."""

    @property
    def first(self) -> int | None:
        """How many layers at the beginning."""

    @property
    def layers(self) -> Sequence[str] | None:
        """Names of layers."""

    @property
    def all(self) -> bool:
        """Whether it is on every layer."""


def settle_placement(config: Placed, **usual: int | bool) -> None:
    """Fill in the usual placement where a frozen record names none; two at once are refused."""
    given = {"last": config.last, "first": config.first, "layers": config.layers, "all": config.all or None}
    named = [word for word, value in given.items() if value is not None]
    if len(named) > 1:
        raise InputError(f"{config.name} takes one placement, not {' and '.join(named)}")
    own: Mapping[str, object] = (
        {"layers": tuple(config.layers)} if config.layers is not None else {} if named else usual
    )
    for word, value in own.items():
        object.__setattr__(config, word, value)


def refuse_shared(network: nn.Module, name: str) -> None:
    """An error if the layer's weights cannot be drawn by its own name alone."""
    layer = network.get_submodule(name)
    own = dict(layer.named_parameters())
    if set(own) - {"weight", "bias"}:
        raise InputError(f"layer {name!r} is parametrised ({', '.join(own)}) and cannot be made Bayesian")
    if getattr(layer, "padding_mode", "zeros") != "zeros":
        raise InputError(f"layer {name!r} pads with {layer.padding_mode!r} and cannot be made Bayesian")
    for other_name, other in network.named_modules():
        shared = [
            key for key, p in other.named_parameters(recurse=False) if any(p is q for q in own.values())
        ]
        if other is not layer and shared:
            raise InputError(f"layer {name!r} shares its {shared[0]} with {other_name!r}; untie them first")


@contextmanager
def replaced(network: nn.Module, new: dict[str, nn.Module]) -> Iterator[None]:
    """The network with some layers replaced, wherever it holds them; afterwards with its own again."""
    old = {name: network.get_submodule(name) for name in new}
    swap = {old[name]: layer for name, layer in new.items()}
    holders = [
        (parent, key, child)
        for parent in network.modules()
        for key, child in parent._modules.items()
        if child in swap
    ]
    try:
        for parent, key, child in holders:
            parent._modules[key] = swap[child]
        yield
    finally:
        for parent, key, child in holders:
            parent._modules[key] = child
