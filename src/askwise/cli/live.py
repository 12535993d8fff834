"""Progress on a terminal: one bar for each run, and what it is doing; elsewhere silent, or a few lines."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Any, TypeAlias

import typer

Tell: TypeAlias = Callable[[str, int, str], None]
"""Moves the bar of a run: its name, its labels, and how good its last model is."""


class Bars:
    """One bar for each run; called with a run's name, labels and how good its model is it moves that bar."""

    def __init__(self, progress: Any, names: Mapping[str, int], *, lines: bool = False) -> None:
        self._progress, self._names = progress, names
        self._quarters = dict.fromkeys(names, 0) if lines else {}
        self._tasks = {
            name: progress.add_task(name, total=budget, good="", doing="", start=False)
            for name, budget in names.items()
        }

    def __call__(self, name: str, labels: int, good: str) -> None:
        """Move the bar of a run to its number of labels, and show how good its model is."""
        task, quarter = self._tasks[name], 4 * labels // self._names[name]
        if quarter > self._quarters.get(name, 4):
            self._quarters[name] = quarter
            typer.echo(f"{name}: {labels} of {self._names[name]} labels, {good}", err=True)
        self._progress.start_task(task)
        self._progress.update(task, completed=labels, good=good)
        if labels >= self._names[name]:
            self._progress.update(task, doing="")
            self._progress.stop_task(task)

    def doing(self, name: str) -> Callable[[str, int, int], None]:
        """A callback that shows what a run does between two labels, with rate and time left."""
        from askwise.train.progress import PATIENCE

        since: dict[str, float] = {}

        def tell(what: str, done: int, total: int) -> None:
            now = monotonic()
            if what not in since:
                since.clear()
                since[what] = now
                return  # the rate is unknown
            if done >= total:
                since.clear()
            passed = now - since.get(what, now)
            said = _said(what, done, total, passed) if passed > PATIENCE else ""
            self._progress.update(self._tasks[name], doing=said)

        return tell


@contextmanager
def bars(names: Mapping[str, int], *, lines: bool = False) -> Iterator[Bars]:
    """The bars; `names` are the runs with their budgets.

    With `lines` each run prints a line at every quarter of its budget where there is no terminal.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.completed:>4.0f}/{task.total:.0f} labels"),
        TextColumn("{task.fields[good]:>7}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[doing]}", style="dim"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield Bars(progress, names, lines=lines and not console.is_terminal)


@contextmanager
def job_bar(count: int) -> Iterator[Callable[[Any, str], None]]:
    """A function that moves one bar over all jobs on a terminal, and is silent elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<24}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("", total=count)

        def tell(job: Any, state: str) -> None:
            if state == "learning":
                progress.update(task, description=job.title)
            else:
                progress.advance(task)

        yield tell


def _said(what: str, done: int, total: int, passed: float) -> str:
    from askwise.train.progress import pace  # not before it is needed: it comes with torch

    minutes, seconds = divmod(round((total - done) * passed / done), 60)
    return f"{what} {done:,} of {total:,}, {pace(done, passed)} a second, {minutes}:{seconds:02d} left"
