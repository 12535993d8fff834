"""What a comparison came to: a summary, a table, a picture and a file for scripts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from askwise.compare.measures import Column, about, columns, far_behind, lead
from askwise.compare.ood import PHOTOS, SHUFFLED
from askwise.compare.protocol import Protocol
from askwise.compare.runs import Trials
from askwise.report.content import Number
from askwise.report.figure import save
from askwise.report.side_by_side import Panel, side_by_side
from askwise.runs.journal import commit

BASELINE = "point"
_SHARED = ("auroc_total", "auroc_epistemic")  # one panel
NEAR = 0.02  # of accuracy, or of an error: a posterior that falls further behind the baseline is named


def outcome(protocol: Protocol, found: Trials, *, command: str) -> dict[str, Any]:
    """Everything about a comparison, as JSON holds it; the summary has posteriors and measures by name."""
    task = protocol.task.name
    return {
        "command": command,
        "commit": commit(),
        "task": task,
        "protocol": asdict(protocol),
        "seeds": sorted({row["seed"] for row in found.rows}),
        "summary": _summary(task, found.rows),
        "refused": found.refused,
        "behind": behind(task, found.rows),
        "rows": found.rows,
    }


def behind(task: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """By how many points posteriors are below the baseline, or by how many percent their error is above.

    Only those that are more than two behind, in the task's first measure.
    """
    first = lead(task)
    mean = {name: fmean(values) for name, values in _values(rows, first.key).items()}
    if BASELINE not in mean:
        return {}
    best = mean[BASELINE]
    gaps = {name: best - value if first.high else value / best - 1 for name, value in mean.items()}
    return {name: 100 * gap for name, gap in gaps.items() if gap > NEAR}


def cells(told: Mapping[str, Any], name: str) -> list[tuple[str, str]]:
    """One line of the table: mean and standard deviation over the seeds of every measure, as written.

    The deviation is empty where there is one seed, or the seeds agree; a posterior without kl_weight
    or ELBO has a dash.
    """
    return [_cell(column, told["summary"][name][column.key]["values"]) for column in columns(told["task"])]


def table(told: Mapping[str, Any], *, title: str, picture: str) -> str:
    """The outcome as Markdown."""
    protocol, seeds = told["protocol"], told["seeds"]
    head = ["posterior", *(f"{column.title} {column.under}".strip() for column in columns(told["task"]))]
    body = {
        name: [f"{mean} {spread}".strip() for mean, spread in cells(told, name)] for name in told["summary"]
    }
    lines = [
        f"# {title}",
        "",
        f"{_defaults(protocol)} Mean over the seeds, ± standard deviation. kl_weight: the temperature of "
        f"the KL from the prior, 1 is Bayes' rule. {about(told['task'])}; ELBO: of the labels learned from, "
        "in nats a label, at a kl_weight of 1. AUROC: how well total and epistemic uncertainty tell "
        f"{_ood(protocol)} from the test items. Training and prediction of all test items under "
        f"{protocol['draws']} draws in CPU seconds; params are all numbers that the trained model keeps, in "
        "thousands.",
        "",
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join([name, *line])} |" for name, line in body.items()),
        "",
        *notes(told),
        "",
        f"Seeds {', '.join(map(str, seeds))}. Protocol: `{json.dumps(protocol)}`",
        "",
        f"Command: `{told['command']}`. Commits: {', '.join(_commits(told))}.",
        "",
        f"![Every metric of every posterior]({picture})",
        "",
    ]
    return "\n".join(lines)


def notes(told: Mapping[str, Any]) -> list[str]:
    """Who falls behind the baseline, and who refused."""
    words = far_behind(told["task"])
    if BASELINE not in told["summary"]:
        near = []
    elif told["behind"]:
        said = ", ".join(f"{name} ({gap:.1f})" for name, gap in told["behind"].items())
        near = [f"{words[0].upper()}{words[1:]} {BASELINE}: {said}."]
    else:
        near = [f"No posterior is {words} {BASELINE}."]
    return [*near, *(f"{name} refused: {why}." for name, why in told["refused"].items())]


def write(told: Mapping[str, Any], folder: Path, *, stem: str) -> dict[str, Path]:
    """The paths of table, picture and JSON, which are written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {kind: folder / f"{stem}.{kind}" for kind in ("md", "png", "json")}
    protocol = told["protocol"]
    title = f"Posteriors on {protocol['labels']:,} labels of {protocol['data']} ({protocol['network']})"
    seeds = f"seed{'s' * (len(told['seeds']) > 1)} {', '.join(map(str, told['seeds']))}"
    drawn = f"{title}, {seeds}; ood: {_ood(protocol)}"
    paths["json"].write_text(json.dumps(told, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    paths["md"].write_text(table(told, title=title, picture=paths["png"].name), encoding="utf-8")
    save(side_by_side(panels(told), title=drawn, baseline=BASELINE), paths["png"])
    return paths


def panels(told: Mapping[str, Any]) -> list[Panel]:
    """One panel for each measure that any posterior has; the two kinds of uncertainty share one."""
    by_key = {column.key: column for column in columns(told["task"])}
    measured = [column for column in by_key.values() if column.key not in ("kl_weight", *_SHARED)]
    drawn = {column.key: _panel(told, column) for column in measured}
    both = _panel(told, by_key["auroc_total"])
    drawn["auroc"] = Panel(
        "AUROC: ● total ○ epist. uncertainty ↑",
        both.values,
        second=_panel(told, by_key["auroc_epistemic"]).values,
    )
    return [panel for panel in drawn.values() if any(panel.values.values())]


def _panel(told: Mapping[str, Any], column: Column) -> Panel:
    values = {
        name: [column.factor * value for value in measured[column.key]["values"]]
        for name, measured in told["summary"].items()
    }
    title = f"{column.title} {column.under}".strip()
    return Panel(f"{title} {'↑' if column.high else '↓'}", values, write=column.write, log=column.log)


def _summary(task: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for column in columns(task):
        for name, values in _values(rows, column.key).items():
            found.setdefault(name, {})[column.key] = _spread(values)
    return found


def _spread(values: Sequence[Number]) -> dict[str, Any]:
    if not values:
        return {"mean": None, "min": None, "max": None, "values": []}
    return {"mean": fmean(values), "min": min(values), "max": max(values), "values": values}


def _values(rows: Sequence[Mapping[str, Any]], key: str) -> dict[str, list[Number]]:
    found: dict[str, list[Number]] = {}
    for row in rows:
        values = found.setdefault(row["posterior"], [])
        if row[key] is not None:
            values.append(row[key])
    return found


def _cell(column: Column, values: Sequence[Number]) -> tuple[str, str]:
    if not values:
        return "–", ""
    scaled = [column.factor * value for value in values]
    spread = f"±{column.write.format(stdev(scaled))}" if len(set(scaled)) > 1 else ""
    return column.write.format(fmean(scaled)), spread


def _defaults(protocol: Mapping[str, Any]) -> str:
    if protocol["kl_weight"] is None:
        return "Each posterior with its defaults."
    return f"Each posterior with its defaults, and kl_weight {protocol['kl_weight']:g} where it has one."


def _ood(protocol: Mapping[str, Any]) -> str:
    name: str = protocol["ood"]
    words = {PHOTOS: "patches of two photographs", SHUFFLED: "test items with every column mixed by itself"}
    return words.get(name, name)


def _commits(told: Mapping[str, Any]) -> list[str]:
    return sorted({str(row["commit"]) for row in told["rows"]})
