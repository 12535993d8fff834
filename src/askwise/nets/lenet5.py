"""LeNet-5 as Shridhar, Laumann and Liwicki 2019 use it: 6 and 16 filters, then 400-120-84-C."""

from collections import OrderedDict

from torch import nn

from askwise.errors import positive
from askwise.nets.activations import activation_of
from askwise.nets.rates import rate
from askwise.nets.recipe import recorded
from askwise.nets.sizes import border


@recorded
def lenet5(
    *,
    channels: int = 1,
    size: int = 32,
    classes: int = 10,
    activation: str = "relu",
    dropout: float = 0.0,
) -> nn.Sequential:
    """LeNet-5 for images of 32 x 32, or of 28 x 28 padded to them; images to logits.

    The paper trains with `activation="softplus"`. Dropout follows each stage but the last where its
    rate is above 0, as in the LeNet of Gal and Ghahramani 2016 with dropout in every layer.
    """
    dropped = rate(dropout) > 0
    padding, act = border("LeNet-5", size), activation_of(activation)
    stages: OrderedDict[str, nn.Module] = OrderedDict(
        conv1=nn.Conv2d(positive("channels", channels), 6, kernel_size=5, padding=padding),
        act1=act(),
        pool1=nn.MaxPool2d(2),
        dropout1=nn.Dropout(dropout),
        conv2=nn.Conv2d(6, 16, kernel_size=5),
        act2=act(),
        pool2=nn.MaxPool2d(2),
        dropout2=nn.Dropout(dropout),
        flatten=nn.Flatten(),
        dense1=nn.Linear(400, 120),
        act3=act(),
        dropout3=nn.Dropout(dropout),
        dense2=nn.Linear(120, 84),
        act4=act(),
        dropout4=nn.Dropout(dropout),
        dense3=nn.Linear(84, positive("classes", classes)),
    )
    return nn.Sequential(OrderedDict((k, m) for k, m in stages.items() if dropped or "dropout" not in k))
