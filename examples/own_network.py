"""A network of one's own, skip connections and all: the part without uncertainty runs once, not once a draw.

    python examples/own_network.py

Nothing here is made for askwise. `bbb(last=2)` makes the last two layers Bayesian by the order in which
they are called; one of them lies on a residual branch. A hundred draws of a pool then cost little more
than one pass, and the example prints how much less than a hundred plain passes.
"""

import time
from typing import Any

import torch
from matplotlib.figure import Figure
from shared import BLUE, GREY, picture, plain, run, save
from torch import Tensor, nn

import askwise as aw


class Block(nn.Module):
    """Two convolutions, and a way around them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1, self.conv2 = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        return (x + self.conv2(self.conv1(x).relu())).relu()


class OwnNetwork(nn.Module):
    """Residual blocks of convolutions, then a residual dense layer."""

    def __init__(self, *, width: int = 32, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.block1, self.block2 = Block(width), Block(width)
        self.narrow = nn.Linear(width * 16, 64)
        self.mix = nn.Linear(64, 64)
        self.head = nn.Linear(64, classes)

    def forward(self, images: Tensor) -> Tensor:
        x = self.block2(self.block1(self.stem(images).relu()))
        x = self.narrow(nn.functional.max_pool2d(x, 2).flatten(1)).relu()
        return self.head(x + self.mix(x).relu())


def main(*, small: bool, data_dir: Any = None, out: Any) -> dict[str, float]:
    """Accuracy, the seconds of both ways and their ratio."""
    data = aw.data.load("digits")
    draws = 100
    order = torch.randperm(len(data.train_x), generator=torch.Generator().manual_seed(0))
    labelled, rest = order[:200], order[200:]
    pool = data.train_x[rest[:50] if small else rest]
    fitted = aw.fit(
        OwnNetwork(),
        (data.train_x[labelled], data.train_y[labelled]),
        posterior=aw.bbb(last=2),
        training=aw.Training(epochs=15 if small else 50, lr=3e-3),
        start="scratch",
        seed=0,
    )
    print("Gaussian weights:", ", ".join(f"{name} {list(t.shape)}" for name, t in fitted.state.items()))
    accuracy = aw.evaluate(fitted, (data.test_x, data.test_y), draws=draws)["accuracy"]

    aw.score_pool(fitted, pool, "bald", draws=draws)  # the first call also finds out what to run once
    started = time.perf_counter()
    scores = aw.score_pool(fitted, pool, "bald", draws=draws)
    ours = time.perf_counter() - started
    started = time.perf_counter()
    with torch.no_grad():
        for _ in range(draws):
            for batch in pool.split(250):  # the fastest size
                fitted.network(batch)
    plainly = time.perf_counter() - started
    print(f"{draws} draws of {len(pool)} images: {ours:.3f} s, as many plain passes: {plainly:.3f} s")

    figure = Figure(figsize=(10, 3.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(2, 3))
    bars = plain(left.subplots())
    bars.grid(False)
    drawn = bars.bar(
        [f"{draws} plain passes", f"askwise, {draws} draws"], [plainly, ours], color=[GREY, BLUE]
    )
    bars.bar_label(drawn, fmt="%.2f s")
    bars.set(ylabel="seconds", title=f"{len(pool)} images, {plainly / ours:.0f} times as fast")
    ranked = scores.argsort(descending=True)
    guess = aw.predict(fitted, pool, draws=draws).mean
    rows = right.subplots(2, 6)
    for row, said, positions in zip(
        rows, ("asked first", "asked last"), (ranked[:6], ranked[-6:]), strict=True
    ):
        for axes, at in zip(row, positions.tolist(), strict=True):
            best = guess[at].topk(2)
            told = " or ".join(f"{digit}" for digit in best.indices.tolist()[: 1 + (best.values[1] > 0.1)])
            picture(axes, pool[at, 0], f"{told}?\nBALD {scores[at]:.2f}", cmap="gray_r")
        row[0].set_title(f"{said}\n{row[0].get_title()}", fontsize=10)
    save(figure, out, "own_network")
    return {"accuracy": accuracy, "seconds": ours, "seconds, plain passes": plainly, "ratio": plainly / ours}


if __name__ == "__main__":
    run(main, __doc__)
