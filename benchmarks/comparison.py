"""Methods side by side over seeds: runs that can be interrupted, then a table, a plot and the facts."""

import argparse
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from askwise.cli.options import seeds as parse_seeds
from askwise.demo import Job, Protocol, run_all
from askwise.report.content import Curve
from askwise.report.figure import save
from askwise.report.past import Past, curves, past
from askwise.report.summary import of_curves, of_run
from askwise.store import open_store

HERE = Path(__file__).parent.parent


@dataclass(frozen=True)
class Comparison:
    """What is compared: methods under one or more protocols, each on every seed."""

    name: str
    title: str
    note: str
    protocols: Mapping[str, Protocol]
    methods: Sequence[str]
    seeds: str

    def store(self, protocol: str, method: str, seed: int) -> Path:
        """Where one run is kept."""
        return HERE / ".runs" / self.name / f"{protocol}-{method}-seed{seed}.db"


def compare(comparison: Comparison) -> None:
    """Bring every run to its end, then write results/NAME.{json,md,png} from all finished ones."""
    parser = argparse.ArgumentParser(description=comparison.title)
    parser.add_argument("--methods", default=",".join(comparison.methods))
    parser.add_argument("--seeds", default=comparison.seeds)
    parser.add_argument("--processes", type=int)
    parser.add_argument("--only-write", action="store_true", help="run nothing, write what is finished")
    options = parser.parse_args()
    (HERE / ".runs" / comparison.name).mkdir(parents=True, exist_ok=True)
    for seed in parse_seeds(options.seeds):
        for name, protocol in comparison.protocols.items():
            jobs = [
                Job(method, seed, comparison.store(name, method, seed))
                for method in options.methods.split(",")
            ]
            if not options.only_write:
                run_all(
                    protocol,
                    [job for job in jobs if finished(job.store, protocol) is None],
                    processes=options.processes,
                    tell=lambda news: print(
                        news.job.method, news.job.seed, news.labels, round(news.accuracy, 4), flush=True
                    ),
                )
    write(comparison)


def finished(store: Path, protocol: Protocol) -> Past | None:
    """The run in a store, if it has spent its budget."""
    if not store.exists():
        return None
    run = past(open_store(store, read_only=True))
    return run if run.rounds and run.rounds[-1].labels >= protocol.budget else None


def write(comparison: Comparison) -> None:
    """The results of all finished runs."""
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True)
    facts: dict[str, Any] = {
        "command": f"python benchmarks/{comparison.name}.py",
        "commit": git.stdout.strip(),
        "note": comparison.note,
        "protocols": {},
    }
    drawn: list[Curve] = []
    for name, protocol in comparison.protocols.items():
        runs = [
            run
            for method in comparison.methods
            for seed in parse_seeds(comparison.seeds)
            if (run := finished(comparison.store(name, method, seed), protocol)) is not None
        ]
        found = curves(runs)
        many = len(comparison.protocols) > 1
        drawn += [replace(curve, name=f"{curve.name}, {name}" if many else curve.name) for curve in found]
        facts["protocols"][name] = {
            "protocol": asdict(protocol),
            "summary": of_curves(found),
            "runs": [{"method": run.name, "seed": run.plan.seed, **of_run(run)} for run in runs],
        }
    results = HERE / "results" / comparison.name
    results.with_suffix(".json").write_text(json.dumps(facts, indent=1) + "\n")
    results.with_suffix(".md").write_text(table(comparison, facts))
    save(drawn, results.with_suffix(".png"), title=f"{comparison.title}: mean and range over the seeds")
    print(table(comparison, facts))


def table(comparison: Comparison, facts: Mapping[str, Any]) -> str:
    """The summary as Markdown: the command, the protocol and every method's cost."""
    lines = [
        f"# {comparison.title}",
        "",
        "Labels to an accuracy: the first round whose accuracy on the test images, averaged with the next two, "
        "reaches it; median over the seeds (lowest to highest), and the median as a fraction of random's.",
        "",
        comparison.note,
        "",
    ]
    for name, part in facts["protocols"].items():
        counts = sorted({run["seed"] for run in part["runs"]})
        lines += [
            f"## {name}",
            "",
            "| method | seeds | labels to 90 % | of random's | labels to 95 % | of random's | accuracy at the end |",
            "|---|---|---|---|---|---|---|",
            *(_row(method, costs, part) for method, costs in part["summary"].items()),
            "",
            f"Seeds {', '.join(map(str, counts))}. Protocol: `{json.dumps(part['protocol'])}`",
            "",
        ]
    lines += [
        f"Command: `{facts['command']}`. Commit: {facts['commit']}.",
        "",
        f"![Learning curves]({comparison.name}.png)",
        "",
    ]
    return "\n".join(lines)


def _row(method: str, costs: Mapping[str, Any], part: Mapping[str, Any]) -> str:
    budget = part["protocol"]["budget"]
    runs = [run for run in part["runs"] if run["method"] == method]
    cells = [str(len(runs))]
    for target in ("labels_to_90", "labels_to_95"):
        cost = costs[target]
        low, mid, high = (
            f"> {budget}" if cost[k] is None else f"{cost[k]:g}" for k in ("min", "median", "max")
        )
        share = cost["fraction_of_random"]
        cells += [f"{mid} ({low} to {high})", "–" if share is None else f"{100 * share:.0f} %"]
    last = [run["accuracy"][-1] for run in runs]
    return f"| {method} | {' | '.join(cells)} | {100 * sum(last) / len(last):.1f} % |"
