"""Photos three times as large, and how far each new pixel can be trusted: ESPCN with MC dropout.

    python examples/super_resolution.py

The network sees a photo at a third of its size and learns what bicubic interpolation misses; feature
maps are dropped when it predicts, too. It learns from one of scikit-learn's two sample photos and is
judged on the other: PSNR against bicubic, and whether the pixels it is unsure of are those it gets wrong.
"""

from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from shared import picture, run, save
from sklearn.datasets import load_sample_image
from torch import Tensor, nn
from torch.nn import functional as F

import askwise as aw

FACTOR = 3
PATCH = 16  # pixels of the small image; 48 of the large one


class Enlarge(nn.Module):
    """Bicubic interpolation, corrected by ESPCN; the pixels of an image are numbers in a row [N, D]."""

    def __init__(self) -> None:
        super().__init__()
        self.espcn = aw.nets.espcn(factor=FACTOR, dropout=0.1)
        nn.init.zeros_(self.espcn.conv4.weight)  # begin as plain bicubic
        nn.init.zeros_(self.espcn.conv4.bias)

    def forward(self, small: Tensor) -> Tensor:
        return (bicubic(small) + self.espcn(small)).flatten(1)


def bicubic(small: Tensor) -> Tensor:
    """What everybody has."""
    return F.interpolate(small, scale_factor=FACTOR, mode="bicubic", align_corners=False)


def shrunk(large: Tensor) -> Tensor:
    """A photo at a third of its size."""
    size = [side // FACTOR for side in large.shape[2:]]
    return F.interpolate(large, size=size, mode="bicubic", align_corners=False, antialias=True)


def coarse(small: Tensor) -> Tensor:
    """An image with its pixels three times as large."""
    return F.interpolate(small, scale_factor=FACTOR, mode="nearest")


def photo(name: str) -> Tensor:
    """The brightness [1, 1, H, W] of a sample photo, from 0 to 1, cut to a multiple of three."""
    colours = torch.from_numpy(np.array(load_sample_image(name))) / 255
    grey = colours @ torch.tensor([0.299, 0.587, 0.114])
    height, width = (side // FACTOR * FACTOR for side in grey.shape)
    return grey[None, None, :height, :width]


def patches(large: Tensor, count: int, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Pieces of the small photo, and the pixels of the large one they stand for; half of them mirrored."""
    small, x, y = shrunk(large), [], []
    for number in range(count):
        top, left = (int(torch.randint(side - PATCH + 1, (), generator=rng)) for side in small.shape[2:])
        mirror = (2,) if number % 2 else ()
        x.append(cut(small, top, left, PATCH).flip(mirror))
        y.append(cut(large, top * FACTOR, left * FACTOR, PATCH * FACTOR).flip(mirror).flatten())
    return torch.stack(x), torch.stack(y)


def cut(image: Tensor, top: int, left: int, size: int) -> Tensor:
    """A square [1, size, size] of an image [1, 1, H, W]."""
    return image[0, :, top : top + size, left : left + size]


def psnr(guess: Tensor, truth: Tensor) -> float:
    """Decibels, without the border that no patch has seen whole."""
    inner = (guess.clip(0, 1) - truth)[..., 6:-6, 6:-6]
    return -10 * inner.square().mean().log10().item()


def main(*, small: bool, data_dir: Any = None, out: Any) -> dict[str, float]:
    """PSNR on the held-out photo, bicubic and ours, and the error in uncertain and other pixels."""
    learn_from, held_out = photo("china.jpg"), photo("flower.jpg")
    rng = torch.Generator().manual_seed(0)
    torch.manual_seed(0)  # the first weights
    if small:
        held_out = held_out[..., 120:270, 240:390]
    data = patches(learn_from, 120 if small else 1500, rng)
    print(f"learning from {len(data[0])} pieces of {PATCH} x {PATCH} pixels", flush=True)
    fitted = aw.fit(
        aw.nets.homoscedastic(Enlarge(), log_variance=-6.0),
        data,
        posterior=aw.mc_dropout(),
        task=aw.tasks.regression(standardise=False),  # pixels of a picture of any size, from 0 to 1
        training=aw.Training(epochs=6 if small else 20, batch_size=16, lr=1e-3),
        seed=0,
        progress=not small,
    )
    found = aw.predict(fitted, shrunk(held_out), draws=10 if small else 30)
    ours, uncertainty = (part.view(held_out.shape) for part in (found.mean, found.epistemic.sqrt()))
    simple, error = bicubic(shrunk(held_out)), (ours - held_out).abs()
    uncertain = uncertainty >= uncertainty.flatten().quantile(0.9)
    numbers = {
        "PSNR, bicubic": psnr(simple, held_out),
        "PSNR, ours": psnr(ours, held_out),
        "error in the most uncertain tenth": error[uncertain].mean().item(),
        "error in the other pixels": error[~uncertain].mean().item(),
    }
    panels = {
        "a third of the size": (coarse(shrunk(held_out)), "gray"),
        f"bicubic, {numbers['PSNR, bicubic']:.2f} dB": (simple, "gray"),
        f"ours, {numbers['PSNR, ours']:.2f} dB": (ours, "gray"),
        "truth": (held_out, "gray"),
        "uncertainty, by pixel of the input": (coarse(F.avg_pool2d(uncertainty, FACTOR)), "magma"),
    }
    corners = [(15, 15)] if small else [(100, 200), (200, 330)]
    figure = Figure(figsize=(13, 2.9 * len(corners)), layout="constrained")
    rows = figure.subplots(len(corners), len(panels), squeeze=False)
    for number, (top, left) in enumerate(corners):
        for axes, (title, (pixels, colours)) in zip(rows[number], panels.items(), strict=True):
            picture(axes, cut(pixels, top, left, 120)[0], title * (number == 0), cmap=colours)
    save(figure, out, "super_resolution")
    return numbers


if __name__ == "__main__":
    run(main, __doc__)
