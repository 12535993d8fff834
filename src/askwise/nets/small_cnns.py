"""Small convolutional networks of the papers: Gal's, BatchBALD's, LeNet-5, and one for digits."""

from collections import OrderedDict

from torch import nn

from askwise.errors import positive
from askwise.nets.parts import activation_of, after, border, rate
from askwise.nets.recipe import recorded


@recorded
def gal_cnn(*, channels: int = 1, size: int = 28, classes: int = 10) -> nn.Sequential:
    """Two convolutions of 32 filters and two dense layers; images [N, channels, size, size] to logits.

    >>> aw.nets.gal_cnn()(torch.rand(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    """
    side = after(size, ("conv", 4), ("conv", 4), ("pool", 2))
    return _two_convolutions(channels, classes, side=side, kernel_size=4)


@recorded
def gal_code_cnn(*, channels: int = 1, size: int = 28, classes: int = 10) -> nn.Sequential:
    """Gal's network as the authors' code has it: 3 x 3 kernels and a pooling of 5; images to logits.

    >>> aw.nets.gal_code_cnn()(torch.rand(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    """
    side = after(size, ("conv", 3), ("conv", 3), ("pool", 5))
    return _two_convolutions(channels, classes, side=side, kernel_size=3, pool=5)


@recorded
def batchbald_cnn(*, channels: int = 1, size: int = 28, classes: int = 10) -> nn.Sequential:
    """Two 5 x 5 convolutions with dropout of whole maps, two dense layers; images to logits.

    >>> aw.nets.batchbald_cnn()(torch.rand(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    """
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


@recorded
def digits_cnn(*, channels: int = 1, size: int = 8, classes: int = 10) -> nn.Sequential:
    """Gal's stages with padded 3 x 3 kernels; images [N, channels, size, size] to logits.

    Unpadded 4 x 4 kernels shrink 8 x 8 to a single pixel before the dense layers; these leave 4 x 4.

    >>> aw.nets.digits_cnn()(aw.data.load("digits").train_x[:2]).shape
    torch.Size([2, 10])
    """
    return _two_convolutions(channels, classes, side=after(size, ("pool", 2)), kernel_size=3, padding=1)


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

    >>> aw.nets.lenet5(size=28, activation="softplus")(torch.rand(2, 1, 28, 28)).shape
    torch.Size([2, 10])
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


def _two_convolutions(
    channels: int, classes: int, *, side: int, kernel_size: int, padding: int = 0, pool: int = 2
) -> nn.Sequential:
    """Two convolutions of 32 filters, a pooling and two dense layers, with Gal's dropout."""
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(positive("channels", channels), 32, kernel_size=kernel_size, padding=padding),
            relu1=nn.ReLU(),
            conv2=nn.Conv2d(32, 32, kernel_size=kernel_size, padding=padding),
            pool=nn.MaxPool2d(pool),
            relu2=nn.ReLU(),  # the same numbers as before the pooling, on fewer of them
            dropout1=nn.Dropout(0.25),
            flatten=nn.Flatten(),
            dense1=nn.Linear(32 * side * side, 128),
            relu3=nn.ReLU(),
            dropout2=nn.Dropout(0.5),
            dense2=nn.Linear(128, positive("classes", classes)),
        )
    )
