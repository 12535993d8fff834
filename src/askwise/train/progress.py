"""Progress with rates and time left: a bar on a terminal when asked for, silent everywhere else."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Follow: TypeAlias = bool | Callable[[str, int, int], None]
"""True shows a progress bar; a callback receives (task, done, total)."""

PATIENCE = 2.0
"""Seconds that pass before a bar appears: what takes less needs none."""


def pace(done: int, seconds: float) -> str:
    """How many a second, as a person reads it."""
    rate = done / seconds
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def track(sequence: Sequence[T], description: str, *, show: Follow) -> Iterator[T]:
    """The items of the sequence, with a bar on standard error while they are taken."""
    with meter(len(sequence), description, unit="epochs", show=show) as advance:
        for item in sequence:
            yield item
            advance(1)


@contextmanager
def meter(total: int, description: str, *, unit: str, show: Follow) -> Iterator[Callable[[int], None]]:
    """A function to call with how many more are done; the bar appears after two seconds."""
    if callable(show):
        yield _Counted(total, description, show)
        return
    if not show:
        yield lambda _: None
        return
    bar = _Bar(total, description, unit)
    try:
        yield bar.advance
    finally:
        bar.close()


class _Counted:
    def __init__(self, total: int, description: str, tell: Callable[[str, int, int], None]) -> None:
        self._total, self._description, self._tell, self._done = total, description, tell, 0

    def __call__(self, count: int) -> None:
        """So many more are done."""
        self._done += count
        self._tell(self._description, self._done, self._total)


class _Bar:
    def __init__(self, total: int, description: str, unit: str) -> None:
        self._total, self._description, self._unit = total, description, unit
        self._started, self._done = monotonic(), 0
        self._bar: Any = None

    def advance(self, count: int) -> None:
        """So many more are done."""
        self._done += count
        if self._bar is None and monotonic() - self._started > PATIENCE and self._done < self._total:
            self._bar, self._task = _shown(self._total, self._description)
        if self._bar is not None:
            said = pace(self._done, monotonic() - self._started)
            self._bar.update(self._task, completed=self._done, rate=f"{said} {self._unit}/s")

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()


def _shown(total: int, description: str) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
    bar.start()
    return bar, bar.add_task(description, total=total, rate="")
