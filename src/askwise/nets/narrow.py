"""The same network with fewer channels: a frame for the weights that pruning has left."""

import copy
from collections.abc import Mapping, Sequence

from torch import nn

from askwise.errors import choose
from askwise.nets.recipe import recorded

_WIDTHS = {"out_features": 0, "in_features": 1, "out_channels": 0, "in_channels": 1, "num_features": 0}
"""What a layer tells of its size, and the axis of its weight where that is seen."""


@recorded
def narrow(network: nn.Module, *, shapes: Mapping[str, Sequence[int]]) -> nn.Module:
    """A copy whose named parameters and buffers have these shapes and are zero, to be filled.

    >>> aw.nets.narrow(aw.nets.linear(4, 2), shapes={"dense1.weight": (2, 3)}).dense1.weight.shape
    torch.Size([2, 3])
    """
    own = copy.deepcopy(network)
    known = own.state_dict()
    for name, shape in shapes.items():
        empty = known[choose("tensor", name, known)].new_zeros(list(shape))
        holder, _, key = name.rpartition(".")
        module = own.get_submodule(holder)
        if key in module._parameters:
            frozen = not module.get_parameter(key).requires_grad
            module._parameters[key] = nn.Parameter(empty, requires_grad=not frozen)
        else:
            module._buffers[key] = empty
        for width, axis in _WIDTHS.items():
            if hasattr(module, width) and key in ("weight", "running_mean") and axis < empty.ndim:
                setattr(module, width, empty.shape[axis])
    return own
