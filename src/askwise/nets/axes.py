"""A linear layer on the principal axes of a pool's features: what few labels learn from best."""

from collections import OrderedDict

import torch
from jaxtyping import Float
from torch import Tensor, nn

from askwise.errors import InputError, positive
from askwise.nets.recipe import recorded


class Axes(nn.Module):
    """Features along fixed axes, each weighted by its variance to a power, every row of length 1.

    The axes are the first features until `place` has put them where a pool varies. The
    posterior chooses the power; it is a half until then.
    """

    centre: Tensor
    directions: Tensor
    variance: Tensor
    power: Tensor

    def __init__(self, features: int, axes: int) -> None:
        super().__init__()
        self.register_buffer("centre", torch.zeros(features))
        self.register_buffer("directions", torch.eye(features, axes))
        self.register_buffer("variance", torch.ones(axes))
        self.register_buffer("power", torch.tensor(0.5))

    def forward(self, inputs: Tensor) -> Float[Tensor, "N A"]:
        """One row for each item."""
        along = (inputs - self.centre) @ (self.directions * self.variance**self.power)
        return nn.functional.normalize(along, dim=1)

    @torch.no_grad()
    def place(
        self,
        centre: Float[Tensor, " D"],
        directions: Float[Tensor, "D B"],
        variance: Float[Tensor, " B"],
    ) -> None:
        """Take these axes, at most as many as there is room for; of fewer the rest is nought."""
        if directions.shape[0] != len(self.centre) or directions.shape[1] > len(self.variance):
            found, room = list(directions.shape), list(self.directions.shape)
            raise InputError(f"axes of shape {found} do not fit into a network with room for {room}")
        count = directions.shape[1]
        self.centre.copy_(centre)
        self.directions.zero_()[:, :count] = directions.to(self.directions)
        self.variance.zero_()[:count] = variance.to(self.variance)


@recorded
def on_axes(features: int, classes: int, *, axes: int = 128) -> nn.Sequential:
    """One dense layer on at most `axes` principal axes of inputs [N, ...] of `features` values.

    >>> aw.nets.on_axes(4, 2, axes=3).dense1.weight.shape
    torch.Size([2, 3])
    """
    count = min(positive("axes", axes), positive("features", features))
    stages: OrderedDict[str, nn.Module] = OrderedDict(flatten=nn.Flatten(), axes=Axes(features, count))
    stages["dense1"] = nn.Linear(count, positive("classes", classes))
    return nn.Sequential(stages)


def axes_of(network: nn.Module) -> Axes | None:
    """The axes inside a network, where it has some."""
    return next((module for module in network.modules() if isinstance(module, Axes)), None)
