"""Every posterior against the exact one on the exam's two heads, over three seeds.

The sitting is that of `askwise compare --exam`; here every candidate, head and seed is a job of the queue.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jobs.experiment import Experiment, Key, Row, options, plain

from askwise.compare import exam
from askwise.compare.exam.gold import Gold, load
from askwise.compare.exam.heads import HEADS, Head
from askwise.compare.exam.sitting import sitting

SEEDS = range(3)
PROTOCOL = exam.Protocol()


@cache
def solved(head: str) -> tuple[Head, Gold]:
    """A head and its exact posterior, read once for all jobs of a process."""
    made = HEADS[head]()
    return made, load(made)


def settings(key: Key) -> dict[str, object]:
    head, gold = solved(str(key["head"]))
    candidate = exam.CANDIDATES[str(key["candidate"])]
    return plain(
        {
            "protocol": vars(PROTOCOL),
            "training": options(PROTOCOL.training(prior_precision=candidate.precision(head))),
            "posterior": options(candidate.config(head)),
            "dropout": candidate.dropout,
            "gold": gold.made["commit"],
        }
    )


def run(key: Key, _: Path) -> dict[str, object]:
    head, gold = solved(str(key["head"]))
    return {"grades": dict(sitting(PROTOCOL, head, gold, str(key["candidate"]), seed=int(key["seed"])))}


def write(rows: Sequence[Row], folder: Path) -> None:
    order = list(exam.CANDIDATES)
    flat = [{**row.key, **row.values, "commit": row.commit} for row in rows]
    flat.sort(key=lambda row: (row["seed"], list(HEADS).index(row["head"]), order.index(row["candidate"])))
    command = ", ".join(sorted({row.command for row in rows}))
    exam.write(exam.outcome(PROTOCOL, flat, command=command), folder)


EXPERIMENT = Experiment(
    name="exam",
    about=f"every posterior against the exact one on two heads, {len(SEEDS)} seeds",
    jobs=[
        {"candidate": name, "head": head, "seed": seed}
        for seed in SEEDS
        for head in HEADS
        for name in exam.CANDIDATES
    ],
    settings=settings,
    run=run,
    tables=write,
    seconds=25,
)
