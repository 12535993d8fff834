"""Sweep: actions to label a whole pool, and whether the sentinels' interval covers the true rate of misses.

    ASKWISE_DATA=... python benchmarks/sweep.py [actions misses rests] [--seeds 0-1] [--draws 0-4] [--tiles 60] [--cache DIR] [--out results/sweep.md]

actions: 600 photos of TrashNet (100 of each class; a draw says which), EfficientNet-Lite2 features, a project as
`askwise new` makes it but without test questions (their part of the pool is never swept). A simulated person who
makes no mistake uses the page's own code: Desk, Sweeps and the live loop, one after the other. They have chosen up
to 60 tiles at once (`--tiles`; 24 is where the page begins). Whenever a class is offered they sweep the largest
offer, otherwise they answer the first question of Ask. How offers are made was chosen on other draws (10 to 14) of
the same 1,387 photos. An action is a key or a click: an answer in Ask, a mark (point at the tile and press the key
of its class; the sentinels are marked too), and Enter. The model is fitted again after every action of Ask and
every grid.

misses: synthetic rows in five classes. In each of 200 runs a simulated person confirms grids until 20 sentinels
were shown or Sweep rests; they overlook each wrong tile, sentinel or not, with a probability of 0.1, or 0.3. Does
the 95 % interval of the sentinels cover it? Control, which must fail: a person who recognises sentinels, overlooks
none of them, and 0.3 of the other wrong tiles. Of such a person the sentinels know nothing.

rests: how soon Sweep rests, by the true rate of misses: exact probabilities of the rule, without grids. Control:
a rule by the rate alone from ten sentinels on.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from provenance import commit
from trashnet import photos

import askwise as aw
from askwise.assess import misses as exact_misses
from askwise.loop.sweeping import Sweepable
from askwise.project.create import create
from askwise.project.sources import source
from askwise.runs.build import learner
from askwise.runs.material import material, read_plan
from askwise.seeding import generator
from askwise.web.desk import Desk
from askwise.web.models import AnswerGiven
from askwise.web.sweep_facts import confirm
from askwise.web.sweeping import LARGEST, REST, SIZE, Sweeps

PER_CLASS, RUNS, SENTINELS = 100, 200, 20
PERSONS = (
    ("misses one in ten", 0.1, False),
    ("misses three in ten", 0.3, False),
    ("control: recognises sentinels", 0.3, True),
)
cached_misses = cache(exact_misses)
RATES, LONG = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5), 60
WHO = "simulated"
WANTED = 220


def features(data: Path, cache: Path, scratch: Path, draw: int) -> tuple[np.ndarray, list[str]]:
    """The features of the photos and the class of each."""
    folder = scratch / "photos"
    folder.mkdir(exist_ok=True)
    if not any(folder.iterdir()):  # features are kept for files as they are: written anew, they are others
        photos(data / "trashnet" / "photos.zip", folder)
    encoder = aw.encoders.load("lite2")
    pool = aw.pool.images(folder, **encoder.reading)
    chosen: list[str] = []
    for name in sorted({one.partition("/")[0] for one in pool.ids}):
        mine = sorted(one for one in pool.ids if one.partition("/")[0] == name)
        order = torch.randperm(len(mine), generator=generator(draw, "trashnet sweep", name))[:PER_CLASS]
        chosen += [mine[at] for at in order.tolist()]
    found = aw.pool.features(pool, encoder.module, cache=cache).read(chosen)
    return found.inputs.numpy(), [one.partition("/")[0] for one in found.ids]


def project(folder: Path, rows: np.ndarray, names: list[str], seed: int):
    """A project of rows, without test questions, whose budget is all of them."""
    np.save(folder / "rows.npy", rows)
    made = create(folder / "project", source("features", folder / "rows.npy"), names=names)
    lines = made.project.plan.read_text().splitlines()
    set_to = {"budget": len(rows), "testing": 0, "seed": seed}
    kept = [line for line in lines if line.partition("=")[0].strip() not in set_to]
    made.project.plan.write_text("\n".join([*(f"{k} = {v}" for k, v in set_to.items()), *kept]) + "\n")
    made.project.store.unlink()
    return made.project


class Person:
    """Somebody who labels a project to its end, and counts what they do."""

    def __init__(self, made, truth: dict[str, int], tiles: int) -> None:
        self.project, self.truth, self.tiles = made, truth, tiles
        self.done: Counter[str] = Counter()
        self.expected: list[tuple[float, float]] = []
        self.curve: list[tuple[int, int]] = []

    def work(self) -> None:
        """Label everything."""
        plan = read_plan(self.project.plan)
        known = material(plan, folder=self.project.folder)
        with learner(plan, known, store=self.project.place, folder=self.project.folder) as ours:
            live, desk = ours.live(checkpoint=10**6), Desk(self.project)
            sweeps = Sweeps(desk)
            live.step()
            while len(desk.ledger.refresh().labels) < len(self.truth):
                offers = sweeps.offers(WHO, live.sweepable(), size=self.tiles)
                if offers:
                    self.sweep(desk, sweeps, offers[0])
                else:
                    self.answer(desk)
                live.step()
                self.curve.append((sum(self.done.values()), len(desk.ledger.refresh().labels)))
                print(
                    *self.curve[-1],
                    dict(self.done),
                    f"{time.process_time():.0f} s",
                    end="   \r",
                    file=sys.stderr,
                )
            wrong = sum(desk.ledger.refresh().labels[name] != label for name, label in self.truth.items())
            desk.close()
        assert wrong == 0, f"{wrong} labels are wrong"

    def answer(self, desk: Desk) -> None:
        """One question, one key."""
        one = desk.questions(WHO, 1, [])[0]
        name = desk.classes.names[self.truth[desk.find(one.item)]]
        given = AnswerGiven(
            key=f"answer-{sum(self.done.values()):05d}", question=one.question, item=one.item,
            verdict="label", value=name,
        )  # fmt: skip
        assert not desk.answer(WHO, [given]).refused
        self.done["single"] += 1

    def sweep(self, desk: Desk, sweeps: Sweeps, offer) -> None:
        """One grid: a mark for each wrong tile, then Enter."""
        grid = sweeps.grid(WHO, offer, size=self.tiles)
        marks = {name: self.truth[name] for name in grid.tiles if self.truth[name] != grid.number}
        fact = confirm(
            desk, WHO, sweep=grid.sweep, key=f"grid-{sum(self.done.values()):05d}", number=grid.number,
            revision=grid.revision, tiles=grid.tiles, wrong=marks,
        )  # fmt: skip
        assert not fact.missed
        self.done["grid"] += 1
        self.done["correction"] += len(fact.wrong)
        self.done["sentinel"] += len(fact.sentinels)
        self.expected.append((grid.precision, 1 - len(fact.wrong) / len(fact.items)))


def labelling(rows: np.ndarray, classes: list[str], seed: int, tiles: int) -> Person:
    """Somebody who has labelled everything."""
    torch.set_num_threads(1)
    names = sorted(set(classes))
    with tempfile.TemporaryDirectory() as place:
        made = project(Path(place), rows, names, seed)
        pool = material(read_plan(made.plan), folder=made.folder).pool
        truth = {name: names.index(label) for name, label in zip(pool.ids, classes, strict=True)}
        person = Person(made, truth, tiles)
        person.work()
    return person


def actions(given: argparse.Namespace) -> list[str]:
    """The table of the whole labelling."""
    lines = ["| draw | seed | actions | singles | grids | corrections | sentinels | expected right | were right | left after 150 actions |",
             "|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    seeds, totals = _range(given.seeds), []
    with ProcessPoolExecutor(given.processes, mp_context=get_context("spawn")) as processes:
        people = {}
        for draw in _range(given.draws):
            with tempfile.TemporaryDirectory() as scratch:
                cache = given.cache
                rows, classes = features(
                    Path(given.data), cache or Path(scratch, "features"), cache or Path(scratch), draw
                )
            for seed in seeds:
                people[draw, seed] = processes.submit(labelling, rows, classes, seed, given.tiles)
        for (draw, seed), one in people.items():
            person = one.result()
            done = person.done
            totals.append(sum(done.values()))
            said, was = (100 * statistics.mean(part) for part in zip(*person.expected, strict=True))
            left = len(rows) - max((labels for at, labels in person.curve if at <= 150), default=0)
            lines.append(
                f"| {draw} | {seed} | {totals[-1]} | {done['single']} | {done['grid']} | {done['correction']} "
                f"| {done['sentinel']} | {said:.1f} % | {was:.1f} % | {left} |"
            )
            print(lines[-1], flush=True)
    within = sum(total <= WANTED for total in totals)
    lines += ["", f"Actions: mean {statistics.mean(totals):.1f}, {min(totals)} to {max(totals)}, against {len(rows)} one "
              f"by one; at most {WANTED} wanted: reached in {within} of {len(totals)} runs."]  # fmt: skip
    return lines


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def misses() -> list[str]:
    """The table of coverage."""
    rng = np.random.default_rng(0)
    classes = rng.integers(5, size=1500)
    rows = (4 * rng.normal(size=(5, 8))[classes] + rng.normal(size=(1500, 8))).astype(np.float32)
    lines = [
        "| person | runs | true rate | interval covers it | mean rate | mean width | rested |",
        "|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as place:
        made = project(Path(place), rows, [f"class {n}" for n in range(5)], 0)
        plan = read_plan(made.plan)
        known = material(plan, folder=made.folder)
        with learner(plan, known, store=made.place, folder=made.folder) as ours:
            ours.ask()
        truth = dict(zip(known.pool.ids, classes.tolist(), strict=True))
        store = made.store.read_bytes()
        for person, rate, sees in PERSONS:
            found = []
            for run in range(RUNS):
                for left in made.store.parent.glob(f"{made.store.name}-*"):
                    left.unlink()
                made.store.write_bytes(store)
                found.append(one_run(made, truth, run, rate, sees=sees))
            covered = statistics.mean(one.low <= rate <= one.high for one, _ in found)
            lines.append(
                f"| {person} | {RUNS} | {rate} | {100 * covered:.1f} % "
                f"| {statistics.mean(o.rate for o, _ in found):.3f} "
                f"| {statistics.mean(o.high - o.low for o, _ in found):.3f} | {sum(r for _, r in found)} |"
            )
            print(lines[-1], flush=True)
    return lines


def one_run(made, truth: dict[str, int], run: int, rate: float, *, sees: bool):
    """The misses after one sitting, and whether Sweep rested."""
    rng = generator(run, "misses", int(100 * rate), int(sees))
    desk = Desk(made)
    sweeps = Sweeps(desk)
    try:
        mixed = [list(truth)[at] for at in torch.randperm(len(truth), generator=rng).tolist()]
        blind, rest = mixed[:60], mixed[60:]
        desk.store.answer([_blind(name, truth[name]) for name in blind])
        turn = 0
        while True:
            before = sweeps.past(WHO)
            if before.misses.shown >= SENTINELS or before.to_check:
                return before.misses, bool(before.to_check)
            number = turn % 5
            mine = [name for name in rest if truth[name] == number and not desk.ledger.answered(name)]
            others = [name for name in rest if truth[name] != number and not desk.ledger.answered(name)]
            picked = [*mine[: SIZE - 5], *others[:3]]  # three wrong ones in each grid
            offers = sweeps.offers(WHO, [Sweepable(number, picked, [0.9] * len(picked))])
            grid = sweeps.grid(WHO, offers[0])
            marks = {}
            for name in grid.tiles:
                known = sees and name in blind
                if truth[name] != number and (known or torch.rand((), generator=rng) >= rate):
                    marks[name] = truth[name]
            confirm(desk, WHO, sweep=grid.sweep, key=f"grid-{turn:05d}", number=number,
                    revision=grid.revision, tiles=grid.tiles, wrong=marks)  # fmt: skip
            turn += 1
    finally:
        desk.close()


def rests() -> list[str]:
    """The table of resting."""
    lines = [
        f"| true rate | rests within {SENTINELS} sentinels | within {LONG} | half have rested after "
        f"| control: within {SENTINELS} | within {LONG} |",
        "|---|---|---|---|---|---|",
    ]
    for rate in RATES:
        ours = resting(rate, lambda missed, shown: cached_misses(missed, shown).above(REST))
        control = resting(rate, lambda missed, shown: shown >= 10 and missed / shown > REST)
        half = next((str(shown) for shown, share in ours.items() if share >= 0.5), "-")
        at = " | ".join(f"{100 * one[n]:.1f} %" for one in (ours, control) for n in (SENTINELS, LONG))
        first, second, rest = at.split(" | ", 2)
        lines.append(f"| {rate} | {first} | {second} | {half} | {rest} |")
    print("\n".join(lines), flush=True)
    return lines


def resting(rate: float, rule) -> dict[int, float]:
    """The probability to have rested, by the number of sentinels shown: two in each grid, after ten one."""
    going, shown, rested, found = {0: 1.0}, 0, 0.0, {}
    while shown < LONG:
        for _ in range(2 if shown < 10 else 1):
            shown += 1
            more = Counter()
            for missed, chance in going.items():
                more[missed] += chance * (1 - rate)
                more[missed + 1] += chance * rate
            going = dict(more)
        rested += sum(going.pop(missed) for missed in list(going) if rule(missed, shown))
        found[shown] = rested
    return found


def _blind(name: str, label: int):
    from askwise.store.facts import Answer

    return Answer(id=name, key=f"blind-{name}", verdict="label", label=label, annotator=WHO, view="ask")


def main() -> None:
    """Print the tables, and write them down."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("parts", nargs="*", default=["rests", "misses", "actions"])
    options.add_argument("--data", default=os.environ.get("ASKWISE_DATA", "."))
    options.add_argument("--seeds", default="0-1", help="first and last, for the actions")
    options.add_argument("--draws", default="0-4", help="which photos: first and last, for the actions")
    options.add_argument("--tiles", type=int, default=LARGEST, help="of a grid, for the actions")
    options.add_argument("--processes", type=int, default=2)
    options.add_argument("--cache", type=Path, help="folder to keep photos and features in")
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    torch.set_num_threads(1)
    text = ["# Sweep: many items at once", "", f"Command: `python benchmarks/sweep.py {' '.join(given.parts)} "
            f"--seeds {given.seeds} --draws {given.draws} --tiles {given.tiles}`. Commit: {commit()}.", "", *__doc__.splitlines()[4:]]  # fmt: skip
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as beside:
        coming = beside.submit(misses) if "misses" in given.parts else None
        whole = actions(given) if "actions" in given.parts else None
        if "rests" in given.parts:
            text += ["", "## When Sweep rests", "", *rests()]
        if coming is not None:
            text += ["", "## The sentinels' interval", "", *coming.result()]
        if whole is not None:
            text += ["", "## Actions to label 600 photos", "", *whole]
    print("\n".join(text))
    if given.out:
        given.out.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
