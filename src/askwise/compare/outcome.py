"""What a comparison came to: a summary, a table, a picture and a file for scripts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from askwise.compare.ood import PHOTOS
from askwise.compare.protocol import Protocol
from askwise.compare.runs import Found
from askwise.report.number import Number
from askwise.report.side_by_side import Panel, save_side_by_side
from askwise.runs.journal import commit

BASELINE = "point"
_SHARED = ("auroc_total", "auroc_epistemic")  # one panel
NEAR = 0.02  # of accuracy: a posterior whose defaults fall further behind the baseline is named


@dataclass(frozen=True)
class Column:
    """A measure: its key, its title in two lines, how it is written, and whether high is good."""

    key: str
    title: str
    under: str = ""
    write: str = "{:.3f}"
    factor: float = 1.0
    high: bool = False
    log: bool = False


COLUMNS = (
    Column("kl_weight", "kl_weight", write="{:g}"),
    Column("accuracy", "acc.", "%", write="{:.2f}", factor=100.0, high=True),
    Column("nll", "NLL"),
    Column("brier", "Brier"),
    Column("ece", "ECE"),
    Column("elbo", "ELBO", "a label", high=True),
    Column("auroc_total", "AUROC", "total", high=True),
    Column("auroc_epistemic", "AUROC", "epist.", high=True),
    Column("training_cpu_s", "train", "CPU s", write="{:.1f}", log=True),
    Column("prediction_cpu_s", "pred.", "CPU s", write="{:.2f}", log=True),
    Column("parameters", "params", "k", write="{:,.1f}", factor=1e-3, log=True),
)


def outcome(protocol: Protocol, found: Found, *, command: str) -> dict[str, Any]:
    """Everything about a comparison, as JSON holds it; the summary has posteriors and measures by name."""
    return {
        "command": command,
        "commit": commit(),
        "protocol": asdict(protocol),
        "seeds": sorted({row["seed"] for row in found.rows}),
        "summary": _summary(found.rows),
        "refused": found.refused,
        "behind": behind(found.rows),
        "rows": found.rows,
    }


def behind(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """By how many points of accuracy posteriors are below the baseline, of those more than two below."""
    mean = {name: fmean(values) for name, values in _values(rows, "accuracy").items()}
    if BASELINE not in mean:
        return {}
    gaps = {name: mean[BASELINE] - value for name, value in mean.items()}
    return {name: 100 * gap for name, gap in gaps.items() if gap > NEAR}


def cells(told: Mapping[str, Any], name: str) -> list[tuple[str, str]]:
    """One line of the table: mean and standard deviation over the seeds of every measure, as written.

    The deviation is empty where there is one seed, or the seeds agree; a posterior without kl_weight
    or ELBO has a dash.
    """
    return [_cell(column, told["summary"][name][column.key]["values"]) for column in COLUMNS]


def table(told: Mapping[str, Any], *, title: str, picture: str) -> str:
    """The outcome as Markdown."""
    protocol, seeds = told["protocol"], told["seeds"]
    head = ["posterior", *(f"{column.title} {column.under}".strip() for column in COLUMNS)]
    body = {
        name: [f"{mean} {spread}".strip() for mean, spread in cells(told, name)] for name in told["summary"]
    }
    lines = [
        f"# {title}",
        "",
        f"{_defaults(protocol)} Mean over the seeds, ± standard deviation. kl_weight: the temperature of "
        "the KL from the prior, 1 is Bayes' rule. NLL in nats; Brier: squares summed over the classes; ECE "
        "with 15 bins; ELBO: of the labels learned from, in nats a label, at a kl_weight of 1. AUROC: how "
        f"well total and epistemic uncertainty tell {_ood(protocol)} from the test images. Training and "
        f"prediction of all test images under {protocol['draws']} draws in CPU seconds; params are all "
        "numbers that the trained model keeps, in thousands.",
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
        f"![Every measure of every posterior]({picture})",
        "",
    ]
    return "\n".join(lines)


def notes(told: Mapping[str, Any]) -> list[str]:
    """Who falls behind the baseline, and who refused."""
    if BASELINE not in told["summary"]:
        near = []
    elif told["behind"]:
        said = ", ".join(f"{name} ({gap:.1f})" for name, gap in told["behind"].items())
        near = [f"More than two points of accuracy below {BASELINE}: {said}."]
    else:
        near = [f"No posterior is more than two points of accuracy below {BASELINE}."]
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
    save_side_by_side(panels(told), paths["png"], title=drawn, baseline=BASELINE)
    return paths


def panels(told: Mapping[str, Any]) -> list[Panel]:
    """One panel for each measure that any posterior has; the two kinds of uncertainty share one."""
    by_key = {column.key: column for column in COLUMNS}
    measured = [column for column in COLUMNS if column.key not in ("kl_weight", *_SHARED)]
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


def _summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for column in COLUMNS:
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
    return "patches of two photographs" if name == PHOTOS else name


def _commits(told: Mapping[str, Any]) -> list[str]:
    return sorted({str(row["commit"]) for row in told["rows"]})
