"""What the exam came to: a table for each head, and a file for scripts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from askwise.compare.exam.candidates import CANDIDATES, PRIORS
from askwise.compare.exam.gold import Gold, load
from askwise.compare.exam.grades import grade
from askwise.compare.exam.heads import HEADS, Head
from askwise.compare.exam.sitting import Protocol, mean_field
from askwise.runs.journal import commit

AGAIN, OPTIMUM = "(gold again)", "(mean-field)"
COLUMNS: Mapping[str, tuple[str, str, str]] = {
    "std": ("sd", "/ gold", "{:.2f}"),
    "mean_field": ("sd /", "m.-field", "{:.2f}"),
    "covariance": ("cov.", "error", "{:.2f}"),
    "nll_gap": ("NLL", "gap", "{:+.3f}"),
    "kl": ("KL", "", "{:.3f}"),
    "bald": ("rank", "BALD", "{:.2f}"),
    "epistemic": ("rank", "epist.", "{:.2f}"),
    "top_10": ("top", "10", "{:.0f}"),
    "top_50": ("top", "50", "{:.0f}"),
}
"""Title in two lines of each grade, and how it is written."""
_NONE = "–"


def outcome(protocol: Protocol, rows: Sequence[Mapping[str, Any]], *, command: str) -> dict[str, Any]:
    """Everything about an exam, as JSON holds it."""
    heads = {}
    for name in dict.fromkeys(row["head"] for row in rows):
        head = HEADS[name]()
        gold = load(head)
        heads[name] = {
            "about": head.about,
            "gold": gold.made,
            "gold_nll": -gold.whole.log_density.mean().item(),
            "references": references(protocol, head, gold),
            "summary": _summary([row for row in rows if row["head"] == name]),
        }
    return {
        "command": command,
        "commit": commit(),
        "protocol": asdict(protocol),
        "seeds": sorted({row["seed"] for row in rows}),
        "heads": heads,
        "rows": list(rows),
    }


def references(protocol: Protocol, head: Head, gold: Gold) -> dict[str, Any]:
    """The grades of one half of the exact draws against the other, and of the mean-field optimum."""
    one, other = gold.halves
    best = mean_field(protocol, head, gold)
    return {
        AGAIN: dict(grade(one, other, mean_field_std=gold.mean_field_std)),
        OPTIMUM: dict(grade(best, gold.whole, mean_field_std=gold.mean_field_std)),
    }


def lines(part: Mapping[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """The table of one head: of every row the prior, then each grade over its spread, as written."""
    found = {name: [("", ""), *_cells([grades])] for name, grades in part["references"].items()}
    for name, grades in part["summary"].items():
        found[name] = [(CANDIDATES[name].prior, ""), *_cells(grades)]
    return found


def notes(told: Mapping[str, Any]) -> list[str]:
    """What the columns and the references mean."""
    p = told["protocol"]
    return [
        "sd / gold: ratio of the weights' standard deviations to the exact ones, median over the weights "
        "(5 % to 95 %); sd / m.-field: to those of the mean-field optimum, median. cov. error: relative, in "
        "the Frobenius norm. NLL gap: of held-out labels, to gold's. KL: of held-out predictions from its, "
        "mean, in nats. rank: Spearman's correlation with gold over the pool, of BALD and of epistemic "
        "uncertainty (variance of the probabilities, or of the means). top: how many of the 10 and the "
        "50 items with the highest BALD are gold's as well.",
        f"{AGAIN}: one half of the exact draws against the other, which is the noise of the exam (that "
        f"of the covariance cancels for the others). {OPTIMUM}: the independent Gaussians with the highest "
        "ELBO, as far as mean-field posteriors can come.",
        "prior: " + "; ".join(f"{name}: {about}" for name, about in PRIORS.items()) + ".",
        f"Each candidate learns for at least {p['steps']:,} steps of {p['batch_size']} at lr {p['lr']:g}, "
        f"and is graded by {p['draws']:,} draws.",
    ]


def table(told: Mapping[str, Any]) -> str:
    """The outcome as Markdown."""
    head = ["posterior", "seeds", "prior", *(f"{one} {two}".strip() for one, two, _ in COLUMNS.values())]
    text = ["# Every posterior against the exact one", ""]
    for name, part in told["heads"].items():
        text += [
            f"## {name}",
            "",
            f"{part['about']}.",
            "",
            _gold_note(part),
            "",
            f"| {' | '.join(head)} |",
            f"|{'---|' * len(head)}",
            *(
                f"| {row} | {_count(part, row)} | {' | '.join(' '.join(filter(None, c)) for c in cells)} |"
                for row, cells in lines(part).items()
            ),
            "",
        ]
    for note in notes(told):
        text += [note, ""]
    commits = sorted({str(row["commit"]) for row in told["rows"]})
    return "\n".join(
        [
            *text,
            f"Seeds {', '.join(map(str, told['seeds']))}. Protocol: `{json.dumps(told['protocol'])}`",
            "",
            f"Command: `{told['command']}`. Commits: {', '.join(commits)}. Gold: "
            + ", ".join(f"`{part['gold']['command']}` at {part['gold']['commit']}" for part in _once(told))
            + ".",
            "",
        ]
    )


def write(told: Mapping[str, Any], folder: Path) -> dict[str, Path]:
    """The paths of table and JSON, which are written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {kind: folder / f"exam.{kind}" for kind in ("md", "json")}
    paths["json"].write_text(json.dumps(told, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    paths["md"].write_text(table(told), encoding="utf-8")
    return paths


def _count(part: Mapping[str, Any], row: str) -> str:
    """How many seeds a candidate has; the references have none."""
    return str(len(part["summary"][row])) if row in part["summary"] else ""


def _gold_note(part: Mapping[str, Any]) -> str:
    made = part["gold"]
    rhat, size = made["r_hat_highest"].values(), made["effective_sample_size_lowest"].values()
    return (
        f"Gold: {made['sampler']}, {made['chains']} chains of {made['draws_of_each_chain']:,} draws after "
        f"{made['warm_up']:,} of warm-up; highest R-hat {max(rhat):.4f}, lowest effective sample size "
        f"{min(size):,.0f} (weights and their squares), {made['divergences']} divergences. NLL of gold: "
        f"{part['gold_nll']:.3f}."
    )


def _summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, float | None]]]:
    """The grades of every candidate, seed by seed."""
    found: dict[str, list[dict[str, float | None]]] = {}
    for row in rows:
        found.setdefault(row["candidate"], []).append(row["grades"])
    return found


def _cells(grades: Sequence[Mapping[str, float | None]]) -> list[tuple[str, str]]:
    """Every grade as its mean over the seeds; below it the deviation, or for widths the quantiles."""
    cells = []
    for key, (_, _, form) in COLUMNS.items():
        values = [value for one in grades if (value := one[key]) is not None]
        if not values:
            cells.append((_NONE, ""))
            continue
        below = f"±{form.format(stdev(values)).lstrip('+')}" if len(set(values)) > 1 else ""
        if key == "std":
            low, high = (fmean(one[f"std_{at}"] or 0.0 for one in grades) for at in (5, 95))
            below = f"{low:.2f}–{high:.2f}"
        cells.append((form.format(fmean(values)), below))
    return cells


def _once(told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The heads whose gold comes from different commits."""
    return list({part["gold"]["commit"]: part for part in told["heads"].values()}.values())
