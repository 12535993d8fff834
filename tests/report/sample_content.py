"""A report's content as a run on digits would fill it, made up from a fixed stream of numbers."""

import sys
from functools import cache

import numpy as np

from askwise.data import load
from askwise.report import Bin, Calibration, Content, Curve, Segment, Shown, Spent
from askwise.report.page import write
from askwise.report.pictures import png

LABELS = tuple(range(20, 201, 10))


def curve(name: str, *, speed: float, top: float, seeds: int = 3) -> Curve:
    rng = np.random.default_rng(len(name))
    x = np.array(LABELS)
    rows = []
    for _ in range(seeds):
        own = speed * rng.uniform(0.93, 1.07)
        noise = rng.normal(0, 0.006, len(x))
        rows.append(tuple((top - (top - 0.42) * np.exp(-(x - 20) / own) + noise).clip(0, 1).tolist()))
    return Curve(name=name, seeds=tuple(range(seeds)), labels=LABELS, values=tuple(rows))


def calibrations() -> tuple[Calibration, ...]:
    rng = np.random.default_rng(3)
    found = []
    for number, labels in enumerate(LABELS):
        gap = 0.16 * np.exp(-number / 6) + 0.012
        bins = []
        for confidence in np.linspace(0.2, 0.98, 12):
            count = int(8 + 300 * confidence**6)
            right = float(np.clip(confidence - gap * (1 - confidence / 2) + rng.normal(0, 0.03), 0, 1))
            bins.append(Bin(float(confidence), right, count))
        found.append(
            Calibration(number, labels, ece=gap, nll=0.2 + 6 * gap, brier=0.1 + 2.6 * gap, bins=bins)
        )
    return tuple(found)


def questions(count: int) -> tuple[Shown, ...]:
    data, rng = load("digits"), np.random.default_rng(5)
    shown = []
    for position in range(count):
        label = int(data.train_y[position])
        guess = label if rng.random() < 0.6 else int(rng.integers(10))
        shown.append(
            Shown(
                id=data.train_ids[position],
                picture=png(data.train_x[position]),
                score=float(rng.uniform(0.3, 1.2)),
                guess=str(guess),
                sure=float(rng.uniform(0.2, 0.7)),
                label=str(label),
                round=1 + position // 10,
            )
        )
    return tuple(shown)


def still_unsure(count: int) -> tuple[Shown, ...]:
    data = load("digits")
    return tuple(
        Shown(
            id=data.train_ids[500 + i],
            picture=png(data.train_x[500 + i]),
            score=0.9 - 0.02 * i,
            guess=str(int(data.train_y[500 + i])),
            sure=0.4 + 0.01 * i,
        )
        for i in range(count)
    )


def confusion() -> tuple[tuple[int, ...], ...]:
    rng = np.random.default_rng(8)
    matrix = np.diag(rng.integers(54, 60, 10))
    for truth, guess, count in ((8, 1, 4), (9, 3, 3), (3, 9, 1), (4, 7, 2), (1, 8, 2), (5, 9, 1)):
        matrix[truth, guess] += count
    return tuple(tuple(map(int, row)) for row in matrix)


@cache
def sample() -> Content:
    rng = np.random.default_rng(9)
    return Content(
        title="Digits: BALD against random labelling",
        subject="bald, seed 0",
        curves=(
            curve("bald", speed=34, top=0.982),
            curve("variation_ratios", speed=40, top=0.979),
            curve("power-bald", speed=37, top=0.975),
            curve("random", speed=58, top=0.965),
        ),
        facts={
            "data": "digits",
            "pool": "1,201 items",
            "test": 596,
            "network": "digits_cnn, BNN-1",
            "seeds": "0–2",
        },
        classes=tuple("0123456789"),
        calibration=calibrations(),
        asked=questions(180),
        unsure=still_unsure(20),
        confusion=confusion(),
        recall=tuple(row[place] / sum(row) for place, row in enumerate(confusion())),
        balance=(17, 23, 15, 22, 19, 18, 12, 20, 31, 23),
        times=tuple(
            Spent(
                number,
                {
                    "train": 1.1 + 0.06 * number,
                    "score": 0.35 + 0.1 * rng.random(),
                    "select": 0.05,
                    "store": 0.08,
                },
            )
            for number in range(1, 19)
        ),
        plan={
            "acquire": "bald",
            "batch": 10,
            "budget": 200,
            "posterior": {"name": "bbb", "last": 1, "rho": -3.0},
            "training": {"epochs": 60, "lr": 1e-3},
            "test": {"count": 596, "use": "measured every round, to report; never asked, never trained on"},
            "pool_subset": None,
            "seed": 0,
        },
        segments=(
            Segment(0, {"torch": "2.13.0", "threads": 2, "cpu": "AVX2"}),
            Segment(9, {"torch": "2.13.0", "threads": 1, "cpu": "AVX2"}, changed=("threads",)),
        ),
        made="2025-01-31",
    )


if __name__ == "__main__":
    write(sample(), sys.argv[1])
