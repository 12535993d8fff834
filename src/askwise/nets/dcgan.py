"""DCGAN (Radford, Metz and Chintala 2016) for small images: one makes them, one judges them."""

from collections import OrderedDict

from torch import nn

from askwise.errors import InputError, positive
from askwise.nets.recipe import recorded


@recorded
def dcgan_generator(*, noise: int = 100, channels: int = 1, size: int = 28, width: int = 64) -> nn.Sequential:
    """Noise [N, noise] to images [N, channels, size, size] with pixels from 0 to 1.

    The paper's last tanh is moved to the range of the pixels that data sets here have.

    >>> aw.nets.dcgan_generator(noise=10, width=8)(torch.rand(2, 10)).shape
    torch.Size([2, 1, 28, 28])
    """
    side, wide = _quarter(size), 2 * positive("width", width)
    return nn.Sequential(
        OrderedDict(
            unflatten=nn.Unflatten(1, (positive("noise", noise), 1, 1)),
            up1=nn.ConvTranspose2d(noise, wide, kernel_size=side, bias=False),
            norm1=nn.BatchNorm2d(wide),
            relu1=nn.ReLU(),
            up2=nn.ConvTranspose2d(wide, width, kernel_size=4, stride=2, padding=1, bias=False),
            norm2=nn.BatchNorm2d(width),
            relu2=nn.ReLU(),
            up3=nn.ConvTranspose2d(width, positive("channels", channels), kernel_size=4, stride=2, padding=1),
            pixels=nn.Sigmoid(),
        )
    )


@recorded
def dcgan_discriminator(*, channels: int = 1, size: int = 28, width: int = 64) -> nn.Sequential:
    """Images to one logit each [N, 1], above 0 for real: one tag, as task `multilabel` has it.

    >>> aw.nets.dcgan_discriminator(width=8)(torch.rand(2, 1, 28, 28)).shape
    torch.Size([2, 1])
    """
    side, wide = _quarter(size), 2 * positive("width", width)
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(positive("channels", channels), width, kernel_size=4, stride=2, padding=1),
            leaky1=nn.LeakyReLU(0.2),
            conv2=nn.Conv2d(width, wide, kernel_size=4, stride=2, padding=1, bias=False),
            norm2=nn.BatchNorm2d(wide),
            leaky2=nn.LeakyReLU(0.2),
            flatten=nn.Flatten(),
            dense=nn.Linear(wide * side * side, 1),
        )
    )


def _quarter(size: int) -> int:
    """A quarter of the side: both networks halve or double it twice."""
    if positive("size", size) % 4:
        raise InputError(f"DCGAN takes images whose side is a multiple of 4, not size={size}")
    return size // 4
