"""A run as its store tells it, and the curves of several runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from askwise.errors import InputError
from askwise.loop.plan import Plan, make
from askwise.report.content import Curve
from askwise.store.contract import Store
from askwise.store.facts import Planned, Round
from askwise.store.kept import as_kept
from askwise.tasks import Task, named


@dataclass(frozen=True)
class Past:
    """A run: its latest plan and its rounds."""

    store: Store
    plan: Plan
    rounds: list[Round]

    @property
    def name(self) -> str:
        """What its curve is called: the score, and the selection where that is not the highest scores."""
        if self.plan.select == "top_k":
            return self.plan.acquire
        if self.plan.select in ("power", "softmax", "softrank"):
            return f"{self.plan.select}-{self.plan.acquire}"
        return self.plan.select  # a joint selection has a score of its own

    @property
    def task(self) -> Task:
        """What its labels are."""
        return named(self.plan.task)

    @property
    def part(self) -> str | None:
        """What its models were measured on, to report: test data, or else validation data."""
        measured = self.rounds[-1].metrics if self.rounds else {}
        return next((part for part in ("test", "validation") if part in measured), None)

    @property
    def validation(self) -> int:
        """Labels besides those trained on: measured every round, so somebody had to give them."""
        return self.plan.validation.count

    def metrics(self) -> dict[int, dict[str, Any]]:
        """What was measured, by the number of labels; trained twice on as many, the later model counts."""
        part, found = self.part, dict[int, dict[str, Any]]()
        for past in self.rounds:
            found = {labels: value for labels, value in found.items() if labels < past.labels}
            if part is not None and part in past.metrics:
                found[past.labels] = past.metrics[part]
        return found


def past(store: Store) -> Past:
    """The run that a store holds."""
    plans = store.facts(Planned)
    if not plans:
        raise InputError(f"{store.name} holds no run yet; start one first")
    return Past(store, make(plans[-1].plan), as_kept(store, store.facts(Round)))


def curves(runs: Sequence[Past]) -> list[Curve]:
    """One curve for each way of asking, over the counts of labels that all its seeds have reached."""
    tasks = [run.task for run in runs]
    other = next((run for run in runs if run.task.name != tasks[0].name), None)
    if other is not None:
        raise InputError(
            f"{runs[0].store.name} is a run of {tasks[0].name}, and {other.store.name} of {other.task.name}; "
            "compare runs of one task"
        )
    measure = tasks[0].measures[0] if tasks else ""
    groups: dict[str, dict[int, dict[int, dict[str, Any]]]] = {}
    held: dict[str, int] = {}
    for run in runs:
        if held.setdefault(run.name, run.validation) != run.validation:
            raise InputError(
                f"runs of {run.name} hold out {held[run.name]} and {run.validation} labels for validation "
                f"({run.store.name}); a curve takes runs that hold out as many"
            )
        seeds = groups.setdefault(run.name, {})
        if run.plan.seed in seeds:
            raise InputError(
                f"two of the runs are {run.name} with seed {run.plan.seed} ({run.store.name}); leave one out"
            )
        seeds[run.plan.seed] = run.metrics()
    found = []
    for name, by_seed in groups.items():
        started = {seed: metrics for seed, metrics in by_seed.items() if metrics}
        common = set.intersection(*map(set, started.values())) if started else set()
        if common:
            labels = sorted(common)
            rows = [[metrics[count][measure] for count in labels] for metrics in started.values()]
            shown: dict[str, Any] = {"validation": held[name], "measure": measure}
            shown["share"] = tasks[0].higher
            found.append(Curve(name, list(started), labels, rows, **shown))
    return found
