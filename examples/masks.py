"""Masks of street scenes, and where in the picture they are uncertain: Bayesian SegNet-Basic.

    python examples/masks.py --data DIR       CamVid at 120 x 90; generated scenes where it is not here
    python examples/masks.py --small          generated scenes, a few seconds

Dropout stays on when it predicts: the mean of the draws is the mask, their spread the uncertainty of every
pixel. Borders and rare things are uncertain, and wrong pixels far more than right ones.
"""

from typing import Any

import numpy as np
import torch
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from shared import here, picture, run, save
from torch import Tensor

import askwise as aw

COLOURS = ("#8ecae6", "#b5651d", "#d9d9d9", "#595959", "#f4a3c0", "#2d6a4f", "#ffd166", "#9a8c98", "#d62828",
           "#5e3aee", "#00b4d8")  # fmt: skip
STREETS = (
    "#8ecae6",
    "#b5651d",
    "#2d6a4f",
    "#595959",
    "#f4a3c0",
    "#d62828",
)  # the same things, the same colours


def scenes(*, small: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Images and masks to learn from, then those to test on, made by chance."""
    count, size = (48, (32, 48)) if small else (200, (60, 80))
    x, y = aw.data.street_scenes(count + 20, rng=torch.Generator().manual_seed(0), size=size)
    return x[:-20], y[:-20], x[-20:], y[-20:]


def main(*, small: bool, data_dir: Any = None, out: Any) -> dict[str, float]:
    """Mean IoU, accuracy of the pixels, and the mean uncertainty of right and of wrong ones."""
    data = None
    if not small:
        note = "generated scenes instead of CamVid"
        data = here(lambda: aw.data.load("camvid", data_dir=data_dir, shrink=2), otherwise=note)
    if data is None:
        classes, colours, ignore = aw.data.STREET_CLASSES, STREETS, None
        x, y, test_x, test_y = scenes(small=small)
    else:
        classes, colours, ignore = data.classes, COLOURS, data.ignore
        x, y = data.train_x, data.train_y
        test_x, test_y = data.test_x[::4], data.test_y[::4]  # a street changes little from one to the next

    print(f"learning from {len(x)} images of {x.shape[3]} x {x.shape[2]}", flush=True)
    fitted = aw.fit(
        aw.nets.segnet_basic(classes=len(classes), width=8 if small else 32, dropout=0.2 if small else 0.5),
        (x, y),
        posterior=aw.mc_dropout(),
        task=aw.tasks.segmentation(ignore=ignore),
        training=aw.Training(epochs=8, batch_size=4, lr=3e-3, augment="flip"),
        start="scratch",
        seed=0,
        progress=not small,
    )
    draws = 10 if small else 20
    measured = aw.evaluate(fitted, (test_x, test_y), draws=draws)
    chosen = torch.linspace(0, len(test_x) - 1, 20).long()
    found = aw.predict(fitted, test_x[chosen], draws=draws)
    guess, truth = found.mean.argmax(dim=-1), test_y[chosen]
    known = truth != ignore if ignore is not None else torch.ones_like(truth, dtype=torch.bool)
    wrong = known & (guess != truth)
    numbers = {
        "mean IoU": measured["mean_iou"],
        "accuracy of pixels": measured["accuracy"],
        "uncertainty where right, nats": found.total[known & ~wrong].mean().item(),
        "uncertainty where wrong, nats": found.total[wrong].mean().item(),
    }
    paint = np.array([to_rgb(colour) for colour in (*colours[: len(classes)], "black")])
    figure = Figure(figsize=(10, 6.4 if data is None else 7), layout="constrained")
    rows = figure.subplots(3, 4)
    for number, at in enumerate((3, 9, 15)):
        row, first = rows[number], number == 0
        picture(row[0], test_x[chosen[at]].permute(1, 2, 0).clip(0, 1), "image" * first)
        picture(row[1], paint[truth[at]], "truth" * first)
        picture(row[2], paint[guess[at]], "guess" * first)
        drawn = picture(row[3], found.total[at], "uncertainty, nats" * first, cmap="magma", vmin=0, vmax=1.5)
    figure.colorbar(drawn, ax=rows[:, 3], shrink=0.6)
    legend = [Patch(color=paint[at], label=name) for at, name in enumerate(classes)]
    figure.legend(handles=legend, loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    save(figure, out, "masks")
    return numbers


if __name__ == "__main__":
    run(main, __doc__)
