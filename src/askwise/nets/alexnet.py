"""AlexNet for small images, and its half, as Shridhar, Laumann and Liwicki 2019 use them."""

from collections import OrderedDict

from torch import nn

from askwise.errors import positive
from askwise.nets.parts import activation_of, border
from askwise.nets.recipe import recorded

_FILTERS = (64, 192, 384, 256, 128)


@recorded
def alexnet(
    *, channels: int = 3, size: int = 32, classes: int = 10, activation: str = "relu"
) -> nn.Sequential:
    """Five convolutions (64, 192, 384, 256, 128 filters) and one dense layer; images to logits.

    For images of 32 x 32, or of 28 x 28 padded to them. The paper trains with
    `activation="softplus"`.

    >>> aw.nets.alexnet()(torch.rand(2, 3, 32, 32)).shape
    torch.Size([2, 10])
    """
    return _network(_FILTERS, channels, size, classes, activation)


@recorded
def alexnet_half(
    *, channels: int = 3, size: int = 32, classes: int = 10, activation: str = "relu"
) -> nn.Sequential:
    """AlexNet with half the filters in every convolution: the paper's smaller network.

    >>> aw.nets.alexnet_half()(torch.rand(2, 3, 32, 32)).shape
    torch.Size([2, 10])
    """
    return _network(tuple(count // 2 for count in _FILTERS), channels, size, classes, activation)


def _network(
    filters: tuple[int, ...], channels: int, size: int, classes: int, activation: str
) -> nn.Sequential:
    one, two, three, four, five = filters
    padding, act = 5 + border("AlexNet", size), activation_of(activation)
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(positive("channels", channels), one, kernel_size=11, stride=4, padding=padding),
            act1=act(),
            pool1=nn.MaxPool2d(2),
            conv2=nn.Conv2d(one, two, kernel_size=5, padding=2),
            act2=act(),
            pool2=nn.MaxPool2d(2),
            conv3=nn.Conv2d(two, three, kernel_size=3, padding=1),
            act3=act(),
            conv4=nn.Conv2d(three, four, kernel_size=3, padding=1),
            act4=act(),
            conv5=nn.Conv2d(four, five, kernel_size=3, padding=1),
            act5=act(),
            pool3=nn.MaxPool2d(2),
            flatten=nn.Flatten(),
            dense=nn.Linear(five, positive("classes", classes)),
        )
    )
