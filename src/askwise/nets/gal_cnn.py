"""The network of Gal, Islam and Ghahramani 2017, also that of Zeng, Lesnikowski and Alvarez 2018."""

from collections import OrderedDict

from torch import nn

from askwise.errors import positive
from askwise.nets.recipe import recorded
from askwise.nets.sizes import after


@recorded
def gal_cnn(*, channels: int = 1, size: int = 28, classes: int = 10) -> nn.Sequential:
    """Two convolutions of 32 filters and two dense layers; images [N, channels, size, size] to logits."""
    side = after(size, ("conv", 4), ("conv", 4), ("pool", 2))
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(positive("channels", channels), 32, kernel_size=4),
            relu1=nn.ReLU(),
            conv2=nn.Conv2d(32, 32, kernel_size=4),
            pool=nn.MaxPool2d(2),
            relu2=nn.ReLU(),  # the same numbers as before the pooling, on a quarter of them
            dropout1=nn.Dropout(0.25),
            flatten=nn.Flatten(),
            dense1=nn.Linear(32 * side * side, 128),
            relu3=nn.ReLU(),
            dropout2=nn.Dropout(0.5),
            dense2=nn.Linear(128, positive("classes", classes)),
        )
    )
