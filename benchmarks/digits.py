"""The digits comparison: every method on seeds 0-4 with the protocol that was fixed on seeds 100-104.

    python benchmarks/digits.py                  all methods, all seeds; interrupted, it goes on
    python benchmarks/digits.py --methods bald   only some; finished runs are kept and shown

Runs are kept in `.runs/digits`; results/digits.{json,md,png} are written anew from all finished ones.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from askwise.cli.options import seeds
from askwise.demo import METHODS, PROTOCOL, Job, run_all
from askwise.report.figure import save
from askwise.report.past import Past, curves, past
from askwise.report.summary import of_curves, of_run
from askwise.store import open_store

HERE = Path(__file__).parent.parent
WORK = HERE / ".runs" / "digits"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", default="0-4")
    parser.add_argument("--processes", type=int, default=None)
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    wanted = [Job(name, seed, store(name, seed)) for seed in seeds(options.seeds) for name in METHODS]
    chosen = [job for job in wanted if job.method in options.methods.split(",")]
    run_all(
        PROTOCOL,
        [job for job in chosen if finished(job) is None],
        processes=options.processes,
        tell=lambda news: print(
            news.job.method, news.job.seed, news.labels, round(news.accuracy, 4), flush=True
        ),
    )
    write([run for job in wanted if (run := finished(job)) is not None])


def store(name: str, seed: int) -> Path:
    return WORK / f"{name}-seed{seed}.db"


def finished(job: Job) -> Past | None:
    if not job.store.exists():
        return None
    run = past(open_store(job.store, read_only=True))
    done = run.rounds and run.rounds[-1].labels >= PROTOCOL.budget
    return run if done else None


def write(runs: list[Past]) -> None:
    order = [run for name in METHODS for run in runs if run.name == name]
    found = curves(order)
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False)
    facts = {
        "command": "python benchmarks/digits.py",
        "commit": git.stdout.strip() if git.returncode == 0 else "none yet",
        "seeds": sorted({run.plan.seed for run in order}),
        "protocol": asdict(PROTOCOL),
        "summary": of_curves(found),
        "runs": {
            name: {str(run.plan.seed): of_run(run) for run in order if run.name == name}
            for name in METHODS
            if any(run.name == name for run in order)
        },
    }
    results = HERE / "results"
    (results / "digits.json").write_text(json.dumps(facts, indent=1) + "\n")
    (results / "digits.md").write_text(table(facts))
    save(found, results / "digits.png", title="Digits, BNN-1: mean and range over the seeds")
    print(table(facts))


def table(facts: dict) -> str:
    budget = facts["protocol"]["budget"]
    lines = [
        "# Digits: labels to an accuracy",
        "",
        "The first round whose accuracy on 596 test digits, averaged with the next two, reaches the target: "
        "median over the seeds (lowest to highest), and the median as a fraction of random's.",
        "",
        "| method | labels to 90 % | of random's | labels to 95 % | of random's | accuracy at the end |",
        "|---|---|---|---|---|---|",
    ]
    for name, costs in facts["summary"].items():
        cells = []
        for target in ("labels_to_90", "labels_to_95"):
            cost = costs[target]
            shown = [
                f"> {budget}" if cost[key] is None else f"{cost[key]:g}" for key in ("median", "min", "max")
            ]
            cells.append(f"{shown[0]} ({shown[1]} to {shown[2]})")
            share = cost["fraction_of_random"]
            cells.append("–" if share is None else f"{100 * share:.0f} %")
        last = [run["accuracy"][-1] for run in facts["runs"][name].values()]
        lines.append(f"| {name} | {' | '.join(cells)} | {100 * sum(last) / len(last):.1f} % |")
    lines += [
        "",
        f"Command: `{facts['command']}`. Commit when this was written: {facts['commit']} (finished "
        f"runs are kept and may be older). Seeds: "
        f"{', '.join(map(str, facts['seeds']))}. The protocol was fixed on seeds 100-104 "
        "(`digits_protocol.jsonl` lists what was tried, what was stopped early and what was not run). It was "
        "chosen by accuracy on the same test digits that are reported here: other seeds, not other data.",
        "",
        "All five mean curves dip at 130 labels: with minibatches of 64 the last one then holds 2 "
        "items. Single fits on 130 random labels (seeds 100-103) had a mean accuracy of 90.2 % with minibatches of "
        "64 and 92.9 % with 65. The protocol was left as it was fixed.",
        "",
        f"Protocol: `{json.dumps(facts['protocol'])}`",
        "",
        "![Learning curves](digits.png)",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
