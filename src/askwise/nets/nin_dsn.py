"""Network in network, and deeply supervised nets, as Alvarez and colleagues train them."""

from collections import OrderedDict

from jaxtyping import Float
from torch import Tensor, nn

from askwise.errors import positive
from askwise.nets.parts import after
from askwise.nets.recipe import recorded


@recorded
def nin(*, channels: int = 3, size: int = 32, classes: int = 10) -> nn.Sequential:
    """Three blocks of one convolution and two of 1 x 1, averaged over the image; images to logits.

    Dropout .5 follows the first two blocks. The authors also rectify the last maps; here a logit
    may be negative.

    >>> aw.nets.nin()(torch.rand(2, 3, 32, 32)).shape
    torch.Size([2, 10])
    """
    return nn.Sequential(stages(channels, size, classes, pool2=nn.AvgPool2d(3, stride=2, ceil_mode=True)))


def stages(channels: int, size: int, classes: int, *, pool2: nn.Module) -> "OrderedDict[str, nn.Module]":
    """The stages by name; deeply supervised nets have the same, with another second pooling."""
    after(size, ("pool", 4))
    return OrderedDict(
        conv1=nn.Conv2d(positive("channels", channels), 192, kernel_size=5, padding=2),
        relu1=nn.ReLU(),
        mix1=nn.Conv2d(192, 160, kernel_size=1),
        relu2=nn.ReLU(),
        mix2=nn.Conv2d(160, 96, kernel_size=1),
        relu3=nn.ReLU(),
        pool1=nn.MaxPool2d(3, stride=2, ceil_mode=True),
        dropout1=nn.Dropout(0.5),
        conv2=nn.Conv2d(96, 192, kernel_size=5, padding=2),
        relu4=nn.ReLU(),
        mix3=nn.Conv2d(192, 192, kernel_size=1),
        relu5=nn.ReLU(),
        mix4=nn.Conv2d(192, 192, kernel_size=1),
        relu6=nn.ReLU(),
        pool2=pool2,
        dropout2=nn.Dropout(0.5),
        conv3=nn.Conv2d(192, 192, kernel_size=3, padding=1),
        relu7=nn.ReLU(),
        mix5=nn.Conv2d(192, 192, kernel_size=1),
        relu8=nn.ReLU(),
        mix6=nn.Conv2d(192, positive("classes", classes), kernel_size=1),
        average=nn.AdaptiveAvgPool2d(1),
        flatten=nn.Flatten(),
    )


_SUPERVISED = ("conv1", "conv2", "conv3")


class Dsn(nn.Module):
    """The stages of Network in Network with a classifier of its own on every wide convolution."""

    def __init__(self, channels: int, size: int, classes: int, *, companions: bool) -> None:
        super().__init__()
        trunk = stages(channels, size, classes, pool2=nn.MaxPool2d(3, stride=2, ceil_mode=True))
        self._order = tuple(trunk)
        for name, module in trunk.items():
            self.add_module(name, module)
        side = size
        for name in _SUPERVISED if companions else ():
            self.add_module(f"{name}_companion", nn.Linear(192 * side * side, classes))
            side = (side + 1) // 2

    def forward(self, images: Float[Tensor, "N channels H W"]) -> Float[Tensor, "N C"]:
        """The logits of the main classifier."""
        return self._run(images)[0]

    def supervised(self, images: Float[Tensor, "N channels H W"]) -> tuple[Float[Tensor, "N C"], ...]:
        """The logits of the main classifier and of every companion, from one pass."""
        main, hidden = self._run(images)
        own = dict(self.named_children())
        found = [own.get(f"{name}_companion") for name in _SUPERVISED]
        return (main, *(c(hidden[k].flatten(1)) for k, c in enumerate(found) if c is not None))

    def companions(self, images: Float[Tensor, "N channels H W"]) -> tuple[Float[Tensor, "N C"], ...]:
        """The logits of the companion classifiers alone; none where the network has none."""
        return self.supervised(images)[1:]

    def _run(self, images: Tensor) -> tuple[Tensor, list[Tensor]]:
        hidden = []
        for name in self._order:
            images = self.get_submodule(name)(images)
            if name in _SUPERVISED:
                hidden.append(images)
        return images, hidden


@recorded
def dsn(*, channels: int = 3, size: int = 32, classes: int = 10, companions: bool = False) -> Dsn:
    """Network in Network with max-pooling, and, if asked, companion classifiers; images to logits.

    Called, it gives the logits of the main classifier alone, in training as in prediction, so that
    it fits where every network fits. Deep supervision needs more than one output: with
    `companions=True` a loop of your own adds the losses of `network.supervised(images)`, and
    whatever is learned so can be the start of `aw.fit(..., start="given")`.

    >>> aw.nets.dsn()(torch.rand(2, 3, 32, 32)).shape
    torch.Size([2, 10])
    """
    return Dsn(channels, size, classes, companions=companions)
