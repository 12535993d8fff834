"""The network of Kirsch, van Amersfoort and Gal 2019 (BatchBALD): dropout after each convolution."""

from collections import OrderedDict

from torch import nn

from askwise.errors import positive
from askwise.nets.recipe import recorded
from askwise.nets.sizes import after


@recorded
def batchbald_cnn(*, channels: int = 1, size: int = 28, classes: int = 10) -> nn.Sequential:
    """Two 5 x 5 convolutions with dropout of whole maps, two dense layers; images to logits."""
    side = after(size, ("conv", 5), ("pool", 2), ("conv", 5), ("pool", 2))
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(positive("channels", channels), 32, kernel_size=5),
            dropout1=nn.Dropout2d(0.5),
            pool1=nn.MaxPool2d(2),
            relu1=nn.ReLU(),
            conv2=nn.Conv2d(32, 64, kernel_size=5),
            dropout2=nn.Dropout2d(0.5),
            pool2=nn.MaxPool2d(2),
            relu2=nn.ReLU(),
            flatten=nn.Flatten(),
            dense1=nn.Linear(64 * side * side, 128),
            dropout3=nn.Dropout(0.5),
            relu3=nn.ReLU(),
            dense2=nn.Linear(128, positive("classes", classes)),
        )
    )
