"""Gal et al. 2017: two digits, a Bayesian network against minimum Bayes risk on a graph."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from askwise.loop.parts import balanced
from askwise.papers.curves import area_column, area_of, labels_column, last_column, plan_of, run_on
from askwise.papers.gal2017.labels_to import authors_plan
from askwise.papers.images import image_set
from askwise.papers.mbr import Harmonic, rbf, shares, zhu_width
from askwise.papers.record import Claim, Entry, Line, Pair, Picture, Place, Table
from askwise.pool import arrays
from askwise.runs.material import Material
from askwise.seeding import generator

DIGITS = (3, 8)
NAMES = [str(digit) for digit in DIGITS]


@cache
def two_digits(
    name: str, data_dir: Path | None, pool: int, test: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Pool and test items of two digits, with labels 0 and 1."""
    data, train_x, test_x = image_set(name, data_dir)
    parts: list[Tensor] = []
    for x, y, most in ((train_x, data.train_y, pool), (test_x, data.test_y, test)):
        own = ((y == DIGITS[0]) | (y == DIGITS[1])).nonzero().flatten()[:most]
        parts += [x[own], (y[own] == DIGITS[1]).long()]
    return parts[0], parts[1], parts[2], parts[3]


def run_network(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """A learning curve of the network on two digits."""
    return run_on(settings, seed, place, _material(settings, place))


def _material(settings: Mapping[str, Any], place: Place) -> Material:
    """The items as a plan takes them."""
    x, y, test_x, test_y = two_digits(settings["data"], place.data_dir, settings["pool"], settings["test"])
    ids = tuple(f"digit-{number:05d}" for number in range(len(x)))
    labels = {name: NAMES[label] for name, label in zip(ids, y.tolist(), strict=True)}
    return Material(arrays(x, ids=ids), labels, (test_x, [NAMES[label] for label in test_y.tolist()]))


def _first(settings: Mapping[str, Any], seed: int, place: Place) -> list[int]:
    """The positions of the first labels, those that a network of the same seed begins with."""
    known = _material(settings, place)
    plan = plan_of({"plan": {"classes": NAMES, "initial": settings["initial"]}}, seed)
    ids = list(known.pool.ids)
    return [ids.index(name) for name in balanced(plan, known.labels, known.pool, ()).initial.ids]


def run_graph(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """A learning curve of harmonic functions on two digits: MBR's choice, or by chance."""
    x, y, test_x, test_y = two_digits(settings["data"], place.data_dir, settings["pool"], settings["test"])
    flat, other = x.flatten(1), test_x.flatten(1)
    rng = generator(seed, "papers", "chance")
    told = {position: int(y[position]) for position in _first(settings, seed, place)}
    width = zhu_width(flat, told)
    graph, across = Harmonic(rbf(flat, flat, width=width), told), shares(other, flat, width=width)
    labels, right = [], []
    while True:
        labels.append(len(graph.labels))
        right.append(float(((graph.predict(across) > 0.5).long() == test_y).double().mean()))
        if len(graph.labels) >= settings["budget"]:
            return {"labels": labels, "accuracy": right, "width": width, "validation": 0}
        for _ in range(settings["batch"]):
            best = (
                graph.best()
                if settings["choice"] == "mbr"
                else int(graph.free[int(torch.randint(len(graph.free), (), generator=rng))])
            )
            graph.tell(best, int(y[best]))


def _two(quick: bool) -> list[Entry]:
    pool, test, budget, batch = (240, 120, 60, 10) if quick else (1000, 2000, 100, 10)
    shared: dict[str, Any] = {"quick": quick, "data": "digits" if quick else "mnist", "digits": list(DIGITS)}
    shared |= {"pool": pool, "test": test}
    initial = {"per_class": 5}
    found = [
        Entry(
            name=f"two digits, {name}",
            settings={
                **shared,
                **{"choice": choice, "width": "zhu", "initial": initial, "batch": batch, "budget": budget},
            },
            run=run_graph,
            seconds=1 if quick else 120,
        )
        for name, choice in (("MBR", "mbr"), ("harmonic functions, random", "random"))
    ]
    for name in ("BALD", "VR, votes", "entropy", "random"):
        plan = {
            **authors_plan(name, quick=quick, steps=50 if quick else 200),
            "classes": NAMES,
            "initial": initial,
            "batch": batch,
            "budget": budget,
        }
        settings = {**shared, "plan": plan}
        found.append(
            Entry(name=f"two digits, {name}", settings=settings, run=run_network, seconds=3 if quick else 60)
        )
    return found


def table_c(quick: bool) -> Table:
    """Figure 3."""
    entries = {one.name.partition(", ")[2]: one for one in _two(quick)}
    size = next(iter(entries.values())).settings
    return Table(
        key="c",
        title="two digits against minimum Bayes risk on a graph",
        source="Figure 3: curves only, no numbers are printed.",
        protocol=(
            "Quick protocol: the 8 x 8 digits of scikit-learn, digits_cnn, 50 steps at 3e-3, 20 draws. "
            if quick
            else ""
        )
        + f"The digits {DIGITS[0]} and {DIGITS[1]} (our choice), a pool of {size['pool']:,} and the first "
        f"{size['test']:,} test images of them; 5 labels of each class, the same for all methods of a "
        "seed, then 10 a round (MBR: one after the other, each answered before the next is chosen). "
        "MBR: RBF graph over raw pixels, its width by Zhu's rule (a third of the first edge of a "
        "minimum spanning tree that joins two classes), harmonic functions, the item that leaves the "
        "fewest errors to expect; test items by their edges. Network: the authors', MC dropout.",
        heads=("method",),
        lines=[Line(words=(name,), entry=one) for name, one in entries.items()],
        columns=(labels_column(0.95, theirs=False), last_column(), area_column()),
        pictures=[
            Picture(name="c", title="Two digits", entries={name: one.name for name, one in entries.items()})
        ],
    )


def claims() -> Sequence[Claim]:
    """What the paper says of two digits."""
    area, found = area_of(factor=100.0), []
    for name in ("BALD", "VR, votes", "entropy"):
        found.append(
            Claim(
                sentence=f"{name} with a Bayesian network needs fewer labels than MBR on two digits "
                "(Figure 3).",
                table="c",
                pairs=[
                    Pair(
                        ours=f"two digits, {name}",
                        baseline="two digits, MBR",
                        measure=area,
                        expected="higher",
                        words=f"{name} minus MBR, area in points",
                    )
                ],
            )
        )
    return found
