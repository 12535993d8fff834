"""Gal's network for images as small as 8 x 8: the same stages, with kernels that keep the size."""

from collections import OrderedDict

from torch import nn

from askwise.errors import positive
from askwise.nets.recipe import recorded
from askwise.nets.sizes import after


@recorded
def digits_cnn(*, channels: int = 1, size: int = 8, classes: int = 10) -> nn.Sequential:
    """Gal's stages with padded 3 x 3 kernels; images [N, channels, size, size] to logits.

    Unpadded 4 x 4 kernels shrink 8 x 8 to a single pixel before the dense layers; these leave 4 x 4.
    """
    side = after(size, ("pool", 2))
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(positive("channels", channels), 32, kernel_size=3, padding=1),
            relu1=nn.ReLU(),
            conv2=nn.Conv2d(32, 32, kernel_size=3, padding=1),
            pool=nn.MaxPool2d(2),
            relu2=nn.ReLU(),
            dropout1=nn.Dropout(0.25),
            flatten=nn.Flatten(),
            dense1=nn.Linear(32 * side * side, 128),
            relu3=nn.ReLU(),
            dropout2=nn.Dropout(0.5),
            dense2=nn.Linear(128, positive("classes", classes)),
        )
    )
