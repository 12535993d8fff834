"""Bayesian SegNet-Basic (Kendall, Badrinarayanan and Cipolla 2017): a mask for every image."""

from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F

from askwise.errors import InputError, positive
from askwise.nets.parts import rate
from askwise.nets.recipe import recorded

_LEVELS = 4
_SMALLEST = 2**_LEVELS
_UNCERTAIN = (3, 4)  # the levels with dropout


class SegNetBasic(nn.Module):
    """Four levels down and four up; each goes up to where the maxima lay on the way down."""

    def __init__(self, channels: int, classes: int, width: int, dropout: float) -> None:
        super().__init__()
        for level in range(1, _LEVELS + 1):
            self.add_module(f"conv{level}", _wide(channels if level == 1 else width, width))
            self.add_module(f"norm{level}", nn.BatchNorm2d(width))
            if level in _UNCERTAIN:
                self.add_module(f"dropout{level}", nn.Dropout(dropout))
        for level in range(_LEVELS, 0, -1):
            self.add_module(f"decode{level}", _wide(width, width))
            self.add_module(f"decode_norm{level}", nn.BatchNorm2d(width))
            if level in _UNCERTAIN:
                self.add_module(f"decode_dropout{level}", nn.Dropout(dropout))
        self.classify = nn.Conv2d(width, classes, kernel_size=1)

    def forward(self, images: Float[Tensor, "N channels H W"]) -> Float[Tensor, "N C H W"]:
        """The logits of every pixel."""
        height, width = images.shape[2:]
        if min(height, width) < _SMALLEST:
            raise InputError(f"SegNet needs images of at least 16 x 16, not {height} x {width}")
        own = dict(self.named_children())
        value, maxima = images, []
        for level in range(1, _LEVELS + 1):
            value = own[f"norm{level}"](own[f"conv{level}"](value)).relu()
            size = (value.shape[2], value.shape[3])
            # Rounded up, so that the last row of an odd image is not forgotten.
            value, indices = F.max_pool2d(value, 2, ceil_mode=True, return_indices=True)
            maxima.append((indices, size))
            if level in _UNCERTAIN:
                value = own[f"dropout{level}"](value)
        for level in range(_LEVELS, 0, -1):
            value = unpool(value, *maxima[level - 1])
            value = own[f"decode_norm{level}"](own[f"decode{level}"](value))
            if level in _UNCERTAIN:
                value = own[f"decode_dropout{level}"](value)
        logits: Tensor = self.classify(value)
        return logits


@recorded
def segnet_basic(
    *, channels: int = 3, classes: int = 11, width: int = 64, dropout: float = 0.5
) -> SegNetBasic:
    """SegNet-Basic with `width` filters of 7 x 7 everywhere; images of any size to logits [N, C, H, W].

    Dropout follows the third and fourth pooling and the fourth and third decoder. The authors
    also normalise the input locally, which on pixels from 0 to 1 does nothing.

    >>> aw.nets.segnet_basic(width=4)(torch.rand(1, 3, 32, 48)).shape
    torch.Size([1, 11, 32, 48])
    """
    positive("channels", channels)
    return SegNetBasic(channels, positive("classes", classes), positive("width", width), rate(dropout))


def unpool(
    values: Float[Tensor, "N C h w"], indices: Int64[Tensor, "N C h w"], size: tuple[int, int]
) -> Float[Tensor, "N C H W"]:
    """The values at the places the maxima came from, zeros elsewhere.

    Written as a scatter, which can be vectorised over draws; `F.max_unpool2d` cannot.
    """
    items, channels = values.shape[:2]
    flat = values.new_zeros(items, channels, size[0] * size[1])
    return flat.scatter(2, indices.flatten(2), values.flatten(2)).view(items, channels, *size)


def _wide(inner: int, outer: int) -> nn.Conv2d:
    return nn.Conv2d(inner, outer, kernel_size=7, padding=3)
