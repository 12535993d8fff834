"""What askwise promises, simulated: accuracy bands, certified labels, estimates, forecasts, suspects, needles."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jobs import tables
from jobs.experiment import Experiment, Key, Row, plain
from promises import bands, certificates, estimates, forecasts, needles, parts, relabelled, runs, sets

from askwise.seeding import generator

RUNS = 25  # in one job
SIZES = {"digits": (1200, 597), "mnist": (3000, 1500), "fashion_mnist": (3000, 1500), "trec": (3000, 1500)}
Rows = Sequence[Row]


def _made(key: Key) -> runs.Runs:
    pool, new = SIZES[str(key["set"])]
    data, rng = (
        sets.load(str(key["set"])),
        generator(int(key["seed"]), "honest", f"{key['part']} {key['set']}"),
    )
    return runs.Runs(data, runs.drawn(data, RUNS, size=pool + new, rng=rng), pool=pool, rng=rng)


def _loops(key: Key) -> dict[str, Any]:
    """Bands over 500 answers; certificates of the model after 300; estimates by the last one."""
    made = _made(key)
    found, logits, open_ = bands.simulate(
        made, bands.TARGETS[str(key["set"])], freeze_at=certificates.LEARNED
    )
    return {
        "bands": found.values(),
        "certificates": certificates.simulate(made, logits, open_, seed=int(key["seed"])),
        "estimates": estimates.simulate(made, made.logits(), found.size),
    }


PARTS: Mapping[str, Callable[[Key], dict[str, Any]]] = {
    "loops": _loops,
    "adversarial": lambda key: certificates.adversarial(float(key["error"]), int(key["seed"])),
    "forecasts": lambda key: forecasts.simulate(_made(key)),
    "needles": lambda key: needles.simulate(sets.load(str(key["set"])), seed=int(key["seed"])),
    "needle": lambda key: needles.simulate_needle(sets.load(str(key["set"])), seed=int(key["seed"])),
    "parts": lambda key: parts.simulate(_made(key)),
    "suspects": lambda key: relabelled.simulate(_made(key), float(key["noise"]), seed=int(key["seed"])),
}
JOBS: list[Key] = [{"part": "loops", "set": name, "seed": seed} for seed in range(20) for name in sets.NAMES]
for _seed in range(4):  # a little of every part first
    JOBS += [{"part": "adversarial", "error": error, "seed": _seed} for error in certificates.ERRORS]
    for _name in sets.NAMES:
        JOBS += [{"part": part, "set": _name, "seed": _seed} for part in ("forecasts", "needles")]
        if _name in relabelled.SETS:
            JOBS += [{"part": "suspects", "set": _name, "noise": n, "seed": _seed} for n in relabelled.NOISES]
JOBS += [{"part": "needle", "set": name, "seed": seed} for seed in range(4) for name in sets.NAMES]
JOBS += [{"part": "parts", "set": name, "seed": seed} for seed in range(20) for name in sets.NAMES]
JOBS += [{"part": "adversarial", "error": e, "seed": seed} for seed in (4, 5) for e in certificates.ERRORS]


def settings(key: Key) -> dict[str, Any]:
    """All that decides a job beside its key."""
    if key["part"] == "adversarial":
        own: Mapping[str, Any] = {
            "runs": certificates.ADVERSARIAL_RUNS,
            "pool": certificates.ADVERSARIAL_POOL,
            "checks": certificates.CHECKS,
        }
        return plain(own)
    if key["part"] == "needles":
        return plain({**needles.SETTINGS, "features": sets.SETTINGS, "model": runs.SETTINGS})
    if key["part"] == "needle":
        own = {name: needles.SETTINGS[name] for name in ("runs", "labels", "pool")}
        return plain({**own, "random_first": runs.RANDOM, "features": sets.SETTINGS})
    common = {
        "runs": RUNS,
        "sizes": SIZES[str(key["set"])],
        "features": sets.SETTINGS,
        "model": runs.SETTINGS,
    }
    if key["part"] == "loops":
        target = bands.TARGETS[str(key["set"])]
        own = {
            "bands": {**bands.SETTINGS, "target": target},
            "certificates": certificates.SETTINGS,
            "estimates": estimates.SETTINGS,
        }
    else:
        modules = {"forecasts": forecasts, "suspects": relabelled, "parts": parts}
        own = modules[str(key["part"])].SETTINGS
    return plain({**common, **own})


def write(rows: Rows, folder: Path) -> None:
    """results/honest.md."""
    by_part = {part: [row for row in rows if row["part"] == part] for part in PARTS}
    loops = {
        name: own for name in sets.NAMES if (own := [row for row in by_part["loops"] if row["set"] == name])
    }
    lines = ["# What askwise promises, simulated", "", PROTOCOL, ""]
    if loops:
        lines += [*_coverage(loops), *_widths(loops), *_stops(loops), *_certified(loops)]
    lines += _adversarial(by_part["adversarial"])
    if loops:
        lines += _estimated(loops)
    lines += [
        *_parts(by_part["parts"]),
        *_forecast(by_part["forecasts"]),
        *_suspected(by_part["suspects"]),
        *_needles(by_part["needles"], by_part["needle"]),
    ]
    tables.save(folder / "honest.md", [*lines, *tables.footer(rows)])


PROTOCOL = (
    "Features: principal axes of pixels (digits), of random convolutions (MNIST, Fashion-MNIST; 10,000 items each) and "
    "of words (TREC, 6 classes), 64 of them. Model: softmax regression with a Gaussian prior, warm-started and refitted "
    "after **every** answer. Every run has a pool of its own, drawn from the set (1,200 digits, otherwise 3,000 items), "
    "a random region of 30 %, and asks 500 questions: every fifth is a uniform draw from the region, the others are "
    "chosen by margin outside it. After each answer all test answers are scored again with the present model and "
    "compared with its true accuracy on the region. The constants of the bands were chosen earlier, on other runs of "
    "MNIST, digits, TREC and CIFAR-10; nothing was chosen on these runs."
)


def _coverage(loops: Mapping[str, Rows]) -> list[str]:
    lines = [
        "## Accuracy bands: coverage at every look at once",
        "",
        "The share of runs in which a band of nominal 95 % held the true accuracy at **every** look, after each of the "
        f"answers {bands.LEAST * bands.EVERY} to {bands.ANSWERS}. *band* is `aw.assess.band`; *band, alpha/8* is what a stop rule "
        "acts on; *Clopper-Pearson* is the ordinary interval read after each answer, the control that must fall short; "
        "*old scores* reads the marks that earlier models got as if they were the present one's; *LURE* is the normal "
        "interval of the importance-weighted estimate. *on new data*: the same band beside the accuracy on items that "
        "were never in the pool, after each test answer.",
        "",
        _head("band", [f"{name} ({_runs(own)} runs)" for name, own in loops.items()]),
    ]
    for name in (bands.OURS, bands.STRICT, bands.PLAIN, bands.NAIVE, bands.OLD, bands.LURE):
        cells = [
            _share(_runs(own) - _total(own, "bands", "missed", name), _runs(own)) for own in loops.values()
        ]
        lines.append(_line(name, cells))
    for name in (bands.OURS, bands.STRICT):
        cells = [
            _share(_runs(own) - _total(own, "bands", "missed_new", name), _runs(own))
            for own in loops.values()
        ]
        lines.append(_line(f"{name}, on new data", cells))
    return [*lines, ""]


def _widths(loops: Mapping[str, Rows]) -> list[str]:
    lines = [
        "## Width, and error of the point estimates",
        "",
        "Mean width at 30, 60 and 100 test answers, and the root mean squared error of three point estimates there. "
        "Clopper-Pearson and LURE are narrower because their promise is for one look only; LURE's was broken above.",
        "",
        _head("set", ["test answers", "accuracy, %", bands.OURS, bands.STRICT, bands.PLAIN, bands.NAIVE, bands.LURE,
                      "RMSE of the share", "with the uncertainty", "LURE"]),
    ]  # fmt: skip
    for name, own in loops.items():
        for n in map(str, bands.WIDTHS_AT):
            widths = [
                _three(_average(own, "bands", "widths", n, way))
                for way in (bands.OURS, bands.STRICT, bands.PLAIN, bands.NAIVE, bands.LURE)
            ]
            errors = [
                _three(_average(own, "bands", "squares", n, way) ** 0.5)
                for way in ("share", "with the model's uncertainty", "LURE")
            ]
            level = f"{100 * _average(own, 'bands', 'squares', n, 'accuracy'):.1f}"
            lines.append(_line(name, [n, level, *widths, *errors]))
    return [*lines, ""]


def _stops(loops: Mapping[str, Rows]) -> list[str]:
    lines = [
        "## At the stopping time",
        "",
        "Stop when the lower limit reaches the target, otherwise after 500 answers. *held*: the band held the true "
        "accuracy at the stopping time; *below*: stops by the rule at which the true accuracy was below the target.",
        "",
        _head(
            "set",
            [
                "target, %",
                "rule acts on",
                "stopped, %",
                "answers, mean",
                "held",
                "below the target, of stops",
            ],
        ),
    ]
    for name, own in loops.items():
        for way in (bands.STRICT, bands.OURS, bands.NAIVE):
            stopped, missed, below, answers = (
                _total(own, "bands", "stops", way, what) for what in ("stopped", "missed", "below", "answers")
            )
            cells = [f"{100 * bands.TARGETS[name]:g}", way, f"{100 * stopped / _runs(own):.0f}"]
            cells += [f"{answers / _runs(own):.0f}", _share(_runs(own) - missed, _runs(own))]
            lines.append(_line(name, [*cells, f"{below:.0f} of {stopped:.0f}"]))
    return [*lines, ""]


def _certified(loops: Mapping[str, Rows]) -> list[str]:
    lines = [
        "## Certified labels",
        "",
        f"The model after {certificates.LEARNED} training answers is frozen and the rest of the pool audited, "
        f"{certificates.AUDITS} audits for each run, first attempts (which spend half of the 5 % risk). Share of the rest that "
        "is given out, mean over the audits / share of audits in which more of it was wrong than promised. *best "
        "possible* knows the truth; *trusting the confidence* takes the surest items whose mean uncertainty is the promised "
        "error; *conformal selection* spends 200 checks on uniform draws and controls an expectation, not this promise.",
        "",
        _head("way", [f"{name}, {100 * e:g} %" for e in certificates.ERRORS for name in loops]),
    ]
    ways = [
        name.split(" ", 1)[1]
        for name in loops[next(iter(loops))][0]["certificates"]
        if name.startswith("0.02 ")
    ]
    for way in ways:
        cells = []
        for error in certificates.ERRORS:
            for own in loops.values():
                share, broken = (
                    _total(own, "certificates", f"{error:g} {way}", w) for w in ("share", "broken")
                )
                audits = _total(own, "certificates", "audits")
                cells.append(f"{_three(share / audits)} / {_three(broken / audits)}")
        lines.append(_line(way, cells))
    audits = {name: _total(own, "certificates", "audits") for name, own in loops.items()}
    return [
        *lines,
        "",
        "Audits: " + ", ".join(f"{name} {count:,.0f}" for name, count in audits.items()) + ".",
        "",
    ]


def _adversarial(rows: Rows) -> list[str]:
    if not rows:
        return []
    lines = [
        f"An adversarial pool of {certificates.ADVERSARIAL_POOL:,} items, of which the model is sure and in which every nested set has one "
        "error more than the promise allows: the share of audits in which a set was certified that breaks the promise.",
        "",
        _head("promised error", ["audits", *(f"{checks} checks" for checks in certificates.CHECKS)]),
    ]
    for error in certificates.ERRORS:
        own = [row for row in rows if row["error"] == error]
        if own:
            count = sum(row["runs"] for row in own)
            broken = [_three(sum(row["broken"][str(c)] for row in own) / count) for c in certificates.CHECKS]
            lines.append(_line(f"{100 * error:g} %", [f"{count:,}", *broken]))
    return [*lines, ""]


def _estimated(loops: Mapping[str, Rows]) -> list[str]:
    lines = [
        "## The share of a class",
        "",
        f"{estimates.ANSWERS} uniform answers from the region, the last model's probabilities for all of it, one class in turn for "
        "each run: share of 95 % intervals that hold the class's true share in the region / mean width. *counted "
        "predictions* takes the predicted classes of the region for labels, the control that must fall short.",
        "",
        _head("interval", [f"{n} ({_total(own, 'estimates', 'samples'):,.0f})" for n, own in loops.items()]),
    ]
    for way in (estimates.OURS, estimates.PLAIN, estimates.NORMAL, estimates.COUNTED):
        cells = []
        for own in loops.values():
            count = _total(own, "estimates", "samples")
            covered, width = (_total(own, "estimates", way, what) for what in ("covered", "width"))
            cells.append(f"{_three(covered / count)} / {_three(width / count)}")
        lines.append(_line(way, cells))
    cells = [
        _three(_total(own, "estimates", estimates.OURS, "covered_pool") / _total(own, "estimates", "samples"))
        for own in loops.values()
    ]
    return [*lines, _line(f"{estimates.OURS}, of the whole pool", cells), ""]


def _forecast(rows: Rows) -> list[str]:
    if not rows:
        return []
    lines = [
        "## A forecast of the next 50 labels",
        "",
        f"At {', '.join(map(str, forecasts.AT))} training answers; gains on new data in points. *small, and wrong*: of the "
        "forecasts below half a point, those whose true gain was above one point.",
        "",
        _head("set", ["forecasts", "forecast, mean", "true, mean", "interval held", "small, and wrong"]),
    ]
    for name in sets.NAMES:
        told = [one for row in rows if row["set"] == name for one in row["forecasts"]]
        if not told:
            continue
        gain, true = (100 * sum(one[at] for one in told) / len(told) for at in (0, 3))
        held = sum(one[1] <= one[3] <= one[2] for one in told)
        small = [one for one in told if one[0] < 0.005]
        bad = sum(one[3] > 0.01 for one in small)
        cells = [
            f"{len(told):,}",
            f"{gain:.2f}",
            f"{true:.2f}",
            _share(held, len(told)),
            f"{bad} of {len(small)}",
        ]
        lines.append(_line(name, cells))
    return [*lines, ""]


def _suspected(rows: Rows) -> list[str]:
    if not rows:
        return []
    ways, names = list(rows[0]["found"]), list(rows[0]["accuracy"])
    lines = [
        "## Labels that are probably wrong",
        "",
        f"{relabelled.LABELS} answers by margin, some of them wrong at random. Share of the wrong ones among the first "
        f"{relabelled.REASKED} that are looked at again (10 %), ranked by a model that has not seen the label (5 folds), by one that "
        "has, or at random; then the accuracy on new data in %.",
        "",
        _head("set", ["wrong, %", "runs", *(f"found, {way}" for way in ways), *names]),
    ]
    for name in relabelled.SETS:
        for noise in relabelled.NOISES:
            own = [row for row in rows if row["set"] == name and row["noise"] == noise]
            if own:
                found = [_three(_average(own, "found", way)) for way in ways]
                reached = [f"{100 * _average(own, 'accuracy', one):.1f}" for one in names]
                lines.append(_line(name, [f"{100 * noise:g}", str(RUNS * len(own)), *found, *reached]))
    return [*lines, ""]


def _parts(rows: Rows) -> list[str]:
    if not rows:
        return []
    by_set = {name: own for name in sets.NAMES if (own := [row for row in rows if row["set"] == name])}
    lines = [
        "## Bands of parts: coverage at every look at once",
        "",
        "The share of runs in which all bands of a kind held at every test answer from the tenth on, nominal 95 %: recall "
        "by class (each class alpha/C), tags (every class as a tag of its own, alpha/L), groups (ten items alike make a "
        "group; a draw is a group, then an item). The ordinary interval of each part read after each answer, and whole "
        "groups taken for single draws, are the controls that must fall short.",
        "",
        _head("band", [f"{name} ({_runs(own)} runs)" for name, own in by_set.items()]),
    ]
    for way in parts.WAYS:
        cells = [_share(_runs(own) - _total(own, "missed", way), _runs(own)) for own in by_set.values()]
        lines.append(_line(way, cells))
    return [*lines, ""]


def _needles(rows: Rows, ours: Rows) -> list[str]:
    """`ours` are rows of the selection `needle`, on the same pools."""
    if not rows:
        return []
    ways = list(rows[0]["found"])
    lines = [
        "## A class that nobody declared",
        "",
        "A class of 1 in 1,000, another one in every run; the share of runs in which one of its items is among the first "
        f"{needles.LABELS} labels, of which {runs.RANDOM} are random. k_center and needle choose by features alone; needle "
        "was settled on other runs of digits, MNIST and TREC.",
        "",
        _head("set", ["runs", *ways, *(["needle (runs)"] if ours else [])]),
    ]
    for name in sets.NAMES:
        own = [row for row in rows if row["set"] == name]
        if own:
            count = needles.RUNS * len(own)
            cells = [str(count), *(_share(_total(own, "found", way), count) for way in ways)]
            mine = [row for row in ours if row["set"] == name]
            if ours:
                more = needles.RUNS * len(mine)
                cells.append(f"{_share(_total(mine, 'found', 'needle'), more)} ({more})" if mine else "–")
            lines.append(_line(name, cells))
    return [*lines, ""]


def _runs(rows: Rows) -> int:
    return RUNS * len(rows)


def _at(row: Row, path: Iterable[str]) -> Any:
    value: Any = row.values
    for name in path:
        value = value[name]
    return value


def _total(rows: Rows, *path: str) -> float:
    return sum(_at(row, path) for row in rows)


def _average(rows: Rows, *path: str) -> float:
    return _total(rows, *path) / len(rows)


def _head(first: str, columns: Sequence[str]) -> str:
    return f"{_line(first, columns)}\n|{'---|' * (len(columns) + 1)}"


def _line(first: str, cells: Sequence[str]) -> str:
    return f"| {' | '.join([first, *cells])} |"


def _share(count: float, of: float) -> str:
    return _three(count / of)


def _three(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if value < 1 else f"{value:.3f}"


@cache
def ready() -> None:
    """Refuses where a set is missing."""
    for name in sets.NAMES:
        sets.load(name)


EXPERIMENT = Experiment(
    name="honest",
    about="bands, certified labels, estimates, forecasts, suspects and needles, four sets",
    jobs=JOBS,
    settings=settings,
    run=lambda key, _: PARTS[str(key["part"])](key),
    tables=write,
    seconds=15,
    ready=ready,
)
