"""Which layers of a network get Gaussian weights."""

from collections.abc import Sequence

from torch import nn
from torch.nn import Parameter
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

from askwise.errors import InputError, choose
from askwise.optim.squares import Layer


def gaussian_layers(network: nn.Module, chosen: Sequence[str | nn.Module] | None = None) -> dict[str, Layer]:
    """The chosen Linear and Conv layers by name, or all that have something to learn."""
    # Attention reads the weights of its output layer without calling it.
    known: dict[str, Layer] = {
        name: module
        for name, module in network.named_modules()
        if isinstance(module, Layer) and not isinstance(module, NonDynamicallyQuantizableLinear)
    }
    if chosen is None:
        found = {name: layer for name, layer in known.items() if own_parameters(layer)}
    else:
        found = {name: known[name] for name in (_name(layer, known) for layer in chosen)}
    if not any(own_parameters(layer) for layer in found.values()):
        raise InputError("there is no Linear or Conv layer to learn, so no weight can be Gaussian")
    for name, layer in found.items():
        _refuse_shared(network, name, layer)
    return found


def own_parameters(layer: nn.Module) -> dict[str, Parameter]:
    """Weight and bias of a layer, those that learn."""
    return {key: p for key, p in layer.named_parameters(recurse=False) if p.requires_grad}


def _name(layer: str | nn.Module, known: dict[str, Layer]) -> str:
    if isinstance(layer, str):
        return choose("layer", layer, known)
    for name, module in known.items():
        if module is layer:
            return name
    raise InputError(f"{layer} is no Linear or Conv layer of this network")


def _refuse_shared(network: nn.Module, name: str, layer: nn.Module) -> None:
    """An error if another module uses the layer's weights: its gradients are not in the layer's calls."""
    own = own_parameters(layer)
    for other_name, other in network.named_modules():
        shared = [key for key, p in own.items() if any(p is q for q in other.parameters(recurse=False))]
        if other is not layer and shared:
            raise InputError(
                f"layer {name!r} shares its {shared[0]} with {other_name!r}; untie them, or leave it out "
                "of `layers`"
            )
