"""Regression with error bars, and how far they can be trusted: three posteriors on UCI's yacht table.

    python examples/uci.py --data DIR                 3 of Gal's 20 splits; --splits 20 for all
    python examples/uci.py --small                    scikit-learn's diabetes table, two splits

Each network gives a mean and learns one noise for all rows. RMSE and log-likelihood are those of the
mixture of 200 draws, in the units of the data. The full table is made by benchmarks/uci.py.
"""

import statistics
from typing import Any

import torch
from matplotlib.figure import Figure
from shared import BLUE, GREEN, GREY, ORANGE, here, plain, run, save
from torch import Tensor

import askwise as aw

POSTERIORS = {"mc_dropout": aw.mc_dropout(), "bbb": aw.bbb(all=True), "laplace": aw.laplace()}
COLOURS = (BLUE, ORANGE, GREEN)
Split = tuple[Tensor, Tensor, Tensor, Tensor]


def yacht(split: int, data_dir: Any) -> Split:
    """Inputs and targets to learn from, then those to test on."""
    data = aw.data.load("uci/yacht", data_dir=data_dir, split=split)
    return data.train_x, data.train_y, data.test_x, data.test_y


def diabetes(split: int) -> Split:
    """The same of a table inside scikit-learn; every tenth row is tested."""
    from sklearn.datasets import load_diabetes

    x, y = (torch.tensor(part, dtype=torch.float32) for part in load_diabetes(return_X_y=True))
    test = torch.randperm(len(x), generator=torch.Generator().manual_seed(split)) % 10 == 0
    return x[~test], y[~test, None], x[test], y[test, None]


def learn(
    name: str, split: Split, *, epochs: int, seed: int
) -> tuple[dict[str, float], Tensor, Tensor, Tensor]:
    """RMSE and log-likelihood; mean, deviation and rank [N] of every test target among the draws."""
    x, y, test_x, test_y = split
    fitted = aw.fit(
        aw.nets.homoscedastic(
            aw.nets.mlp(x.shape[1], 1, hidden=(50,), dropout=0.01 * (name == "mc_dropout"))
        ),
        (standard(x, x), y),
        posterior=POSTERIORS[name],
        task="regression",
        training=aw.Training(epochs=epochs, batch_size=32, lr=1e-2),
        start="scratch",
        seed=seed,
    )
    found = aw.evaluate(fitted, (standard(test_x, x), test_y), draws=200)
    mean, log_variance = aw.moments(fitted, standard(test_x, x), draws=200)[:, :, 0].unbind(dim=2)
    # The chance that each mixture gives to less than the truth: uniform where the uncertainty is right.
    rank = torch.special.ndtr((test_y - mean) / (log_variance / 2).exp()).mean(dim=1)
    deviation = (mean.var(dim=1) + log_variance.exp().mean(dim=1)).sqrt()
    numbers = {"RMSE": found["rmse"], "log-likelihood": found["log_likelihood"]}
    return numbers, mean.mean(dim=1), deviation, rank


def standard(x: Tensor, train: Tensor) -> Tensor:
    """Inputs in standard deviations from the mean of the training part."""
    return (x - train.mean(dim=0)) / train.std(dim=0).clamp_min(1e-6)


def main(*, small: bool, data_dir: Any = None, out: Any, splits: int = 3) -> dict[str, float]:
    """The mean over the splits of RMSE and log-likelihood, by posterior."""
    title, parts = "diabetes", None
    if not small:
        note = "diabetes instead of yacht"
        parts = here(lambda: [yacht(number, data_dir) for number in range(splits)], otherwise=note)
        title = "diabetes" if parts is None else "yacht"
    parts = parts or [diabetes(number) for number in range(2)]

    figure = Figure(figsize=(13, 3.6), layout="constrained")
    *panels, coverage = map(plain, figure.subplots(1, 4))
    levels = torch.linspace(0, 1, 21)
    coverage.plot([0, 1], [0, 1], "--", color=GREY)
    numbers: dict[str, float] = {}
    for axes, name, colour in zip(panels, POSTERIORS, COLOURS, strict=True):
        runs = [learn(name, p, epochs=20 if small else 300, seed=n) for n, p in enumerate(parts)]
        for key in ("RMSE", "log-likelihood"):
            numbers[f"{key}, {name}"] = statistics.mean(run[0][key] for run in runs)
            print(f"{title}, {name}: {key} {numbers[f'{key}, {name}']:.3f}, {len(runs)} splits", flush=True)
        truth = parts[0][3].flatten()
        axes.errorbar(truth, runs[0][1], 2 * runs[0][2], fmt="o", color=colour, markersize=3, linewidth=1)
        axes.axline((truth.mean(), truth.mean()), slope=1, color=GREY, linestyle="--", linewidth=1)
        axes.set(xlabel="truth", ylabel="prediction ± 2 deviations", title=f"{title}: {name}")
        ranks = torch.cat([run[3] for run in runs])
        inside = [(2 * (ranks - 0.5).abs() <= level).float().mean().item() for level in levels]
        coverage.plot(levels, inside, color=colour, label=name)
    coverage.set(
        xlabel="level of the interval", ylabel="share of truths inside", title="calibration, all splits"
    )
    coverage.legend(frameon=False, fontsize=8)
    save(figure, out, "uci")
    return numbers


if __name__ == "__main__":
    run(main, __doc__, splits=3)
