"""The content of a report from stores: curves of all runs, details of the first."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from torch import tensor

from askwise.bayes.fitted import Fitted, load
from askwise.errors import InputError
from askwise.files import target
from askwise.loop.audit import certificate
from askwise.loop.learner import Learner
from askwise.loop.saying import said
from askwise.loop.status import status
from askwise.pool.pool import Pool
from askwise.report import wording
from askwise.report.content import Bin, Calibration, Content, Measured, Point, Segment, Spent
from askwise.report.page import write
from askwise.report.past import Past, curves, past
from askwise.report.shown import asked, unsure
from askwise.store.contract import Store
from askwise.store.facts import Asked
from askwise.store.facts import Segment as Conditions
from askwise.store.labels import Tags
from askwise.store.ledger import Ledger
from askwise.tasks.counts import recalls

_IDS = 5  # more of them are counted, not listed


def write_report(learner: Learner, path: str | Path) -> Path:
    """The path of one HTML page about a learner's run, which is written: curves, questions, pictures, plan.

    >>> with aw.Learner(network, pool=x, classes=2, batch=5, budget=10, training=short) as learner:
    ...     _ = learner.run(oracle=lambda question: int(y[question.row]))
    ...     aw.write_report(learner, "report.html").name
    'report.html'
    """
    target(path)
    own = learner.fitted if learner.rounds() and learner.pool is learner.items else None
    return write(assemble([learner.store], pool=learner.items, fitted=own), path)


def assemble(
    stores: Sequence[Store], *, pool: Pool | None = None, title: str = "", fitted: Fitted | None = None
) -> Content:
    """What a report tells of these runs; without the pool it has ids in place of pictures.

    `fitted` is the last model of the first run, where it cannot be loaded: a network of one's own.
    """
    if not stores:
        raise InputError("a report needs at least one run")
    runs = [past(store) for store in stores]
    run = runs[0]
    content = _details(run, pool, fitted)
    found = curves(runs)
    baseline = "random" if any(curve.name == "random" for curve in found) else ""
    return replace(
        content,
        curves=found,
        baseline=baseline,
        title=title or (f"{_called(run.plan.data)}: what was asked" if run.plan.data else Content.title),
        subject=f"{run.name}, seed {run.plan.seed}" if len(runs) > 1 else "",
        facts={**content.facts, "seeds": _seeds([one.plan.seed for one in runs])},
    )


def _called(data: str) -> str:
    """What people call data: a set by its name, a folder or file without the way there."""
    return Path(data).name if Path(data).is_absolute() else data


def _details(run: Past, pool: Pool | None, own: Fitted | None) -> Content:
    ledger = Ledger(run.store).refresh()
    fitted = own or _model(run)
    network = getattr(fitted.network, "recipe", {}).get("name") if fitted is not None else None
    facts = {
        "data": run.plan.data,
        "pool": f"{run.store.count():,} items",
        "labels": wording.total(len(ledger.labels), validation=run.validation),
        "test": f"{run.plan.test.count:,} items" if run.plan.test.count else None,
        "network": network,
        "posterior": _posterior(run.plan.posterior),
    }
    questions, count = asked(run, ledger, pool)
    return Content(
        curves=(),
        facts={key: value for key, value in facts.items() if value},
        classes=run.plan.names,
        calibration=_calibration(run) if run.plan.kind == "classification" else (),
        measured=_measured(run) if run.plan.kind != "classification" else (),
        points=[Point(*one) for one in _last(run).get("points", ())],
        overlap=_last(run).get("iou", ()),
        asked=questions,
        asked_in_all=count,
        unsure=unsure(run, ledger, pool, fitted) if pool is not None and fitted is not None else (),
        confusion=_last(run).get("confusion", ()),
        recall=_recall(run),
        balance=_balance(run, ledger),
        quality=_quality(run),
        times=_times(run),
        plan=_short(run.plan.model_dump(mode="json")),
        segments=_segments(run),
        made=date.today().isoformat(),
    )


def _model(run: Past) -> Fitted | None:
    """The model of the last round, if it is one of our networks: another cannot be built from its name."""
    if not run.rounds or run.store.folder is None:
        return None
    try:
        return load(run.store.folder / run.rounds[-1].checkpoint)
    except InputError:
        return None


def _calibration(run: Past) -> list[Calibration]:
    found = []
    for one in run.rounds:
        if run.part is None or run.part not in one.metrics:
            continue
        measured = one.metrics[run.part]
        bins = [Bin(sure, right, int(count)) for count, sure, right in measured["bins"] if count]
        numbers = (measured["ece"], measured["nll"], measured["brier"])
        found.append(Calibration(one.number, one.labels, *numbers, bins=bins, validation=run.validation))
    return found


def _last(run: Past) -> Mapping[str, Any]:
    """What was measured of the last model."""
    found: Mapping[str, Any] = run.rounds[-1].metrics.get(run.part or "", {}) if run.rounds else {}
    return found


def _measured(run: Past) -> list[Measured]:
    parts = [(one, one.metrics[run.part]) for one in run.rounds if run.part in one.metrics]
    names = run.task.measures
    return [Measured(one.number, one.labels, {key: part.get(key) for key in names}) for one, part in parts]


def _recall(run: Past) -> list[float | None]:
    """Of every class or tag; counted anew for runs from before it was measured."""
    measured = _last(run)
    if "confusion" in measured and not measured.get("recall"):
        return recalls(tensor(measured["confusion"]))
    return list(measured.get("recall", ()))


def _quality(run: Past) -> list[str]:
    """What is known of the last model by test answers, its temperature, and what is certified."""
    now, kept = status(run.store), certificate(run.store)
    told = [] if now.quality is None else [line for _, line in said(now.quality, run.plan.names)]
    told += [] if now.calibration is None else [f"{now.calibration}."]
    if kept is not None:
        void = f" It is void: {kept['void']}." if kept["void"] else ""
        told.append(f"certified: {kept['promise']}.{void}")
    return told


def _balance(run: Past, ledger: Ledger) -> list[int]:
    """How many labels have each class or tag; numbers and masks are not counted."""
    found = Counter[int]()
    for label in ledger.labels.values():
        found.update(label.tags if isinstance(label, Tags) else [label] if isinstance(label, int) else ())
    return [found[place] for place in range(len(run.plan.names))] if found else []


def _times(run: Past) -> list[Spent]:
    """Seconds of each round: its training, and the choice of the next questions by its model."""
    choosing: dict[int, dict[str, float]] = {}
    for one in run.store.facts(Asked):
        sums = choosing.setdefault(one.round, {})
        for phase, seconds in one.seconds.items():
            sums[phase] = sums.get(phase, 0.0) + seconds
    return [Spent(one.number, {**one.seconds, **choosing.get(one.number, {})}) for one in run.rounds]


def _segments(run: Past) -> list[Segment]:
    return [
        Segment(
            1 + sum(one.revision < segment.revision for one in run.rounds),
            segment.conditions,
            segment.changed,
        )
        for segment in run.store.facts(Conditions)
    ]


def _short(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The plan without what was not chosen, and without long lists of ids."""
    shown: dict[str, Any] = {}
    for key, value in plan.items():
        if isinstance(value, Mapping):
            value = _short(value)
        if isinstance(value, list) and key == "ids":
            value = value if len(value) <= _IDS else f"{len(value):,} ids"
        if value not in (None, [], {}, ()):
            shown[key] = value
    return shown


def _posterior(table: Mapping[str, Any]) -> str:
    chosen = next((f"{key}={table[key]}" for key in ("last", "first", "layers") if table.get(key)), "")
    whole = "all" if table.get("all") else chosen
    return f"{table['name']}({whole})" if whole else str(table["name"])


def _seeds(seeds: Sequence[int]) -> str:
    found = sorted(set(seeds))
    if len(found) > 1 and found == list(range(found[0], found[-1] + 1)):
        return f"{found[0]}–{found[-1]}"
    return ", ".join(map(wording.count, found))
