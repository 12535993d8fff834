"""Network in Network (Lin, Chen and Yan 2014) as its authors ran it on CIFAR-10."""

from collections import OrderedDict

from torch import nn

from askwise.errors import positive
from askwise.nets.recipe import recorded
from askwise.nets.sizes import after


@recorded
def nin(*, channels: int = 3, size: int = 32, classes: int = 10) -> nn.Sequential:
    """Three blocks of one convolution and two of 1 x 1, averaged over the image; images to logits.

    Dropout .5 follows the first two blocks. The authors also rectify the last maps; here a logit
    may be negative.
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
