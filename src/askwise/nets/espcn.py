"""ESPCN (Shi et al. 2016): a larger image from a small one, by convolutions on the small one."""

from collections import OrderedDict

from torch import nn

from askwise.errors import positive
from askwise.nets.parts import rate
from askwise.nets.recipe import recorded


@recorded
def espcn(*, channels: int = 1, factor: int = 3, dropout: float = 0.0) -> nn.Sequential:
    """Images [N, channels, H, W] to images `factor` times as high and wide.

    Four convolutions as Shridhar et al. 2019 name them (64@5, 64@3, 32@3, then `factor`^2 values
    for each pixel and channel), then a shuffle of those values. Dropout of whole maps follows each
    hidden convolution where its rate is above 0.

    >>> aw.nets.espcn(factor=3)(torch.rand(1, 1, 10, 10)).shape
    torch.Size([1, 1, 30, 30])
    """
    filters = [positive("channels", channels), 64, 64, 32]
    stages: OrderedDict[str, nn.Module] = OrderedDict()
    for number, kernel in ((1, 5), (2, 3), (3, 3)):
        stages[f"conv{number}"] = nn.Conv2d(
            filters[number - 1], filters[number], kernel_size=kernel, padding=kernel // 2
        )
        stages[f"relu{number}"] = nn.ReLU()
        if rate(dropout) > 0:
            stages[f"dropout{number}"] = nn.Dropout2d(dropout)
    stages["conv4"] = nn.Conv2d(32, channels * positive("factor", factor) ** 2, kernel_size=3, padding=1)
    stages["shuffle"] = nn.PixelShuffle(factor)
    return nn.Sequential(stages)
