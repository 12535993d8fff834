"""Markdown of finished rows: values by method, differences paired over seeds, and where rows come from."""

import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, TypeAlias

from askwise.math.paired import difference, holm, verdict
from jobs.experiment import Row, canonical

Values: TypeAlias = Mapping[str, Mapping[Hashable, float]]
"""One measure: for each method its value by seed (or split)."""

ABOUT = (
    "Differences are paired over the {units}: mean and 95 % t interval; p after Holm's correction over all "
    "differences of the table; *could have shown* is the smallest true gap that so many pairs would have found "
    "in 80 % of cases, before the correction; *undecided* where the interval holds 0 or the corrected p is above .05."
)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """How a measure is called and written, and whether high is good."""

    key: str
    title: str
    write: str = "{:.3f}"
    factor: float = 1.0
    high: bool = False


def of(rows: Iterable[Row], measure: str | Callable[[Row], float], *, by: str, unit: str = "seed") -> Values:
    """One measure of the rows, by method and seed."""
    found: dict[str, dict[Hashable, float]] = {}
    for row in rows:
        value = row[measure] if isinstance(measure, str) else measure(row)
        if value is not None:
            found.setdefault(row[by], {})[row[unit]] = value
    return found


def differences(values: Values, measure: Measure, *, baseline: str, unit: str = "seed") -> list[str]:
    """A table: n, mean, and the difference to the baseline of every method."""
    return grouped({"": values}, measure, baseline=baseline, what="", unit=unit)


def grouped(
    groups: Mapping[str, Values], measure: Measure, *, baseline: str, what: str, unit: str = "seed"
) -> list[str]:
    """The same for several groups in one table (`what` they are, e.g. sparsity), corrected over all of them."""
    pairs = {
        (group, name): difference(
            [measure.factor * own[at] for at in shared],
            [measure.factor * values[baseline][at] for at in shared],
        )
        for group, values in groups.items()
        for name, own in values.items()
        if name != baseline and len(shared := _shared_units(own, values.get(baseline, {}))) > 1
    }
    adjusted = dict(zip(pairs, holm([one.p for one in pairs.values()]), strict=True))
    write, sense = measure.write, "higher is better" if measure.high else "lower is better"
    signed = write.replace("{:", "{:+")
    head = [
        *([what] if what else []),
        "method",
        f"{unit}s",
        f"{measure.title} ({sense})",
        f"minus {baseline}, paired",
        "p (Holm)",
        "could have shown",
        "verdict",
    ]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for group, values in groups.items():
        for name, own in values.items():
            cells = [*([group] if what else []), name, str(len(own))]
            cells.append(mean_and_error([measure.factor * value for value in own.values()], write))
            if (group, name) in pairs:
                one, p = pairs[group, name], adjusted[group, name]
                n = "" if one.n == len(own) else f", {one.n} pairs"
                cells += [
                    f"{signed.format(one.mean)} ({signed.format(one.low)} to {signed.format(one.high)}{n})",
                    _p(p),
                    write.format(one.detectable),
                    _verdict(verdict(one, p), high=measure.high),
                ]
            else:
                cells += ["–"] * 4
            lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def mean_and_error(values: Sequence[float], write: str) -> str:
    """The mean, ± its standard error where there are several values; a dash where there are none."""
    if not values:
        return "–"
    error = f" ± {write.format(stdev(values) / math.sqrt(len(values)))}" if len(set(values)) > 1 else ""
    return write.format(fmean(values)) + error


def footer(rows: Sequence[Row], *, units: str = "seed") -> list[str]:
    """Command, commits, seeds, conditions and settings of the rows."""
    commands = sorted({f"`{row.command}`" for row in rows})
    commits = sorted({row.commit for row in rows})
    numbers = sorted({row.key[units] for row in rows})
    versions = sorted({f"torch {row.conditions['torch']}, {_threads(row)}" for row in rows})
    days = sorted({row.started[:10] for row in rows})
    protocols: dict[str, tuple[str, dict[str, Any]]] = {}
    for row in rows:
        protocols.setdefault(row.protocol, (_owner(row, units), row.settings))
    return [
        f"Command: {', '.join(commands)}. Commits of the rows: {', '.join(commits)}. "
        f"{units.capitalize()}s {spans(numbers)}. {'; '.join(versions)}. "
        f"{' to '.join(dict.fromkeys([days[0], days[-1]]))}, {sum(row.seconds for row in rows) / 3600:.1f} hours of jobs.",
        "",
        "<details><summary>Settings, as they are hashed</summary>",
        "",
        *(f"- {owner}: `{json.dumps(one)}`" for owner, one in _shared(protocols)),
        "",
        "</details>",
        "",
    ]


def spans(numbers: Sequence[int]) -> str:
    """Whole numbers in short: 0 to 4, 7."""
    parts = []
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        found = [number for _, number in run]
        parts.append(str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}")
    return ", ".join(parts)


def save(path: Path, lines: Iterable[str]) -> None:
    """Write a text whole or not at all."""
    new = path.with_name(f".{path.name}.new")
    new.write_text("\n".join(lines), encoding="utf-8")
    new.replace(path)


def _shared_units(own: Mapping[Hashable, float], other: Mapping[Hashable, float]) -> list[Hashable]:
    return [at for at in own if at in other]


def _p(value: float) -> str:
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def _verdict(told: str, *, high: bool) -> str:
    if told == "undecided":
        return told
    return f"{told}: {'better' if (told == 'higher') == high else 'worse'}"


def _threads(row: Row) -> str:
    count = row.conditions["threads"]
    return f"{count} thread{'s' * (count != 1)}"


def _owner(row: Row, units: str) -> str:
    """Whose settings these are: the key without the seed."""
    return " ".join(str(value) for name, value in row.key.items() if name != units)


def _shared(protocols: Mapping[str, tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """What all have in common first, then what each has of its own."""
    every = [settings for _, settings in protocols.values()]
    common = {
        name: value
        for name, value in every[0].items()
        if all(name in one and canonical(one[name]) == canonical(value) for one in every)
    }
    own = [
        (owner, {name: value for name, value in settings.items() if name not in common})
        for owner, settings in protocols.values()
    ]
    return [("all", common), *((owner, rest) for owner, rest in own if rest)]
