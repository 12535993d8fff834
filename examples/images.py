"""Active learning on images: a network asks for the labels it needs, and another one asks at random.

    python examples/images.py            MNIST where it is (--data DIR), otherwise scikit-learn's digits
    python examples/images.py --small    a few seconds

Both networks are alike (a Bayesian last layer), start from the same 20 images and are answered by the
same simulated oracle. Whom they ask about is the only difference: BALD against chance.
"""

from typing import Any

from matplotlib.figure import Figure
from shared import BLUE, GREY, here, picture, plain, run, save, tiled

import askwise as aw

SHOWN = 40  # images of each method


def learn(acquire: str, data: aw.data.Dataset, *, small: bool) -> tuple[list[int], list[float], list[str]]:
    """Labels and accuracy after every round, and the ids in the order they were asked."""
    oracle = aw.oracle.Simulated(
        dict(zip(data.train_ids, data.train_y.tolist(), strict=True)), classes=data.classes
    )
    learner = aw.Learner(
        aw.nets.gal_cnn() if data.train_x.shape[-1] == 28 else aw.nets.digits_cnn(),
        pool=aw.pool.arrays(data.train_x, ids=data.train_ids),
        classes=data.classes,
        posterior=aw.bbb(last=1),
        acquire=acquire,
        select="top_k" if acquire == "random" else "power",  # the best ten on their own are often alike
        initial=20,
        batch=20 if small else 10,
        budget=60 if small else 150,
        draws=20 if small else 50,
        pool_subset=10_000,
        training=aw.Training(epochs=30 if small else 50, lr=3e-3),
        test=(data.test_x, data.test_y),
        seed=0,
    )
    asked: list[str] = []
    with learner:
        while questions := learner.ask():
            learner.tell(oracle.answer(questions))
            asked += [question.id for question in questions]
            if rounds := learner.rounds():
                accuracy = rounds[-1].metrics["test"]["accuracy"]
                print(f"{acquire:>7}: {rounds[-1].labels:4d} labels, accuracy {accuracy:.3f}", flush=True)
        rounds = learner.rounds()
    return [r.labels for r in rounds], [r.metrics["test"]["accuracy"] for r in rounds], asked


def main(*, small: bool, data_dir: Any = None, out: Any) -> dict[str, float]:
    """The accuracy of both, and of both on average over the rounds."""
    data = None
    if not small:
        data = here(lambda: aw.data.load("mnist", data_dir=data_dir), otherwise="digits instead of MNIST")
    data = data or aw.data.load("digits")
    place = {name: at for at, name in enumerate(data.train_ids)}

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(5, 4))
    curves = plain(left.subplots())
    montages = right.subplots(2, 1)
    numbers = {}
    for axes, acquire, colour in zip(montages, ("bald", "random"), (BLUE, GREY), strict=True):
        labels, accuracy, asked = learn(acquire, data, small=small)
        curves.plot(labels, [100 * a for a in accuracy], "o-", color=colour, markersize=4, label=acquire)
        first = data.train_x[[place[name] for name in asked[20 : 20 + SHOWN]]]  # after the shared 20
        title = f"{acquire}: the first {len(first)} images it asked for"
        picture(axes, tiled(first, columns=10), title, cmap="gray_r")
        numbers[f"accuracy, {acquire}"] = accuracy[-1]
        numbers[f"mean accuracy, {acquire}"] = sum(accuracy) / len(accuracy)
    curves.set(
        xlabel="labels", ylabel="test accuracy, %", title=f"{data.name}, Bayesian last layer, one seed"
    )
    curves.legend(frameon=False)
    save(figure, out, "images")
    return numbers


if __name__ == "__main__":
    run(main, __doc__)
