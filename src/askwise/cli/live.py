"""Progress on a terminal: one bar for each run; silent everywhere else."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

Tell: TypeAlias = Callable[[str, int, float | None], None]
"""Moves the bar of a run: its name, its labels, and the accuracy of its last model."""


@contextmanager
def bars(names: Mapping[str, int]) -> Iterator[Tell]:
    """A function that moves the bars; `names` are the runs with their budgets."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.completed:>4.0f}/{task.total:.0f} labels"),
        TextColumn("{task.fields[accuracy]:>7}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        tasks = {
            name: progress.add_task(name, total=budget, accuracy="", start=False)
            for name, budget in names.items()
        }

        def tell(name: str, labels: int, accuracy: float | None) -> None:
            task = tasks[name]
            progress.start_task(task)
            said = "" if accuracy is None else f"{100 * accuracy:.1f} %"
            progress.update(task, completed=labels, accuracy=said)
            if labels >= names[name]:
                progress.stop_task(task)

        yield tell
