"""LeNet-5 as Shridhar, Laumann and Liwicki 2019 use it: 6 and 16 filters, then 400-120-84-C."""

from collections import OrderedDict

from torch import nn

from askwise.errors import InputError, choose, positive
from askwise.nets.recipe import recorded

_PADDING = {32: 0, 28: 2}
_ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "softplus": nn.Softplus, "tanh": nn.Tanh}


@recorded
def lenet5(
    *, channels: int = 1, size: int = 32, classes: int = 10, activation: str = "relu"
) -> nn.Sequential:
    """LeNet-5 for images of 32 x 32, or of 28 x 28 padded to them; images to logits.

    The paper trains with `activation="softplus"`.
    """
    if size not in _PADDING:
        raise InputError(f"LeNet-5 takes images of 32 x 32 or 28 x 28, not size={size}")
    act = _ACTIVATIONS[choose("activation", activation, _ACTIVATIONS)]
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(positive("channels", channels), 6, kernel_size=5, padding=_PADDING[size]),
            act1=act(),
            pool1=nn.MaxPool2d(2),
            conv2=nn.Conv2d(6, 16, kernel_size=5),
            act2=act(),
            pool2=nn.MaxPool2d(2),
            flatten=nn.Flatten(),
            dense1=nn.Linear(400, 120),
            act3=act(),
            dense2=nn.Linear(120, 84),
            act4=act(),
            dense3=nn.Linear(84, positive("classes", classes)),
        )
    )
