"""Progress bars: shown on a terminal when asked for, silent everywhere else."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def track(sequence: Sequence[T], description: str, *, show: bool) -> Iterator[T]:
    """The items of the sequence, with a bar on standard error while they are taken."""
    if not show:
        yield from sequence
        return
    from rich.console import Console
    from rich.progress import track as bar

    console = Console(stderr=True)
    yield from bar(sequence, description, console=console, disable=not console.is_terminal, transient=True)
