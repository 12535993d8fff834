"""Gradients taken item by item: what the squares of the optimizers are held to."""

from torch import Tensor, nn
from torch.func import functional_call, grad, vmap


def by_item(network: nn.Module, x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """Mean of the squares of gradients taken item by item."""
    parameters = {name: p.detach() for name, p in network.named_parameters()}
    buffers = dict(network.named_buffers())

    def loss(parameters: dict[str, Tensor], item: Tensor, label: Tensor) -> Tensor:
        output = functional_call(network, {**parameters, **buffers}, (item[None],))
        return nn.functional.cross_entropy(output, label[None])

    found = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
    return {name: value.square().mean(dim=0) for name, value in found.items()}
