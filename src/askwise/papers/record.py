"""What a paper is here: its tables beside ours, the runs behind them, and its claims."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from askwise.report.content import Curve
from askwise.runs.rows import Row, digest

Results: TypeAlias = Mapping[str, Mapping[int, Row]]
"""Finished runs by the name of their entry and by seed."""


@dataclass(frozen=True)
class Place:
    """Where a run finds its data, and a folder of its own that outlives a kill."""

    scratch: Path
    data_dir: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One method under one protocol: what is run once for each seed.

    `settings` are all that decides its numbers beside the seed; `run(settings, seed, place)` returns
    values that JSON can hold. `seconds` is what a run may take on one core, until runs have said it.
    """

    name: str
    settings: Mapping[str, Any]
    run: Callable[[Mapping[str, Any], int, Place], Mapping[str, Any]]
    seconds: int | float

    @property
    def protocol(self) -> str:
        """The hash of the settings: a run of other settings does not count."""
        return digest(self.settings)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a table: words that tell it from the others, its entry, and the paper's own numbers."""

    words: tuple[str, ...]
    entry: Entry
    theirs: Mapping[str, str] = field(default_factory=dict)
    baseline: str = ""
    """The entry that it is measured against, e.g. random choice under the same protocol."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A measure of all runs of an entry; `theirs` says whether the paper has it too.

    `ours(runs, baseline)` writes a cell; the runs of the line's baseline are empty where it has none.
    """

    key: str
    title: str
    ours: Callable[[Sequence[Row], Sequence[Row]], str]
    theirs: bool = False


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Curves in one picture: entries by the name in the legend, and the authors' curves.

    `measure` and `x` name lists among the values of a run. With `bins`, the name of the edges among them,
    it shows distributions instead: `measure` has the share of each bin.
    """

    name: str
    title: str
    entries: Mapping[str, str]
    theirs: Callable[[Path | None], Sequence[Curve]] = lambda _: ()
    measure: str = "accuracy"
    x: str = "labels"
    bins: str = ""
    words: str = "test accuracy"
    """What the measure is called; of distributions, what the bins are of."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the paper: what it says there, how ours is made, and its lines."""

    key: str
    title: str
    source: str
    """Table or figure and page of the paper."""
    protocol: str
    """How our numbers were made, in words; a reduced protocol says so."""
    heads: tuple[str, ...]
    lines: Sequence[Line]
    columns: Sequence[Column]
    pictures: Sequence[Picture] = ()
    cited: Sequence[str] = ()
    """Numbers of the paper that stand for themselves, one sentence each."""


Measure: TypeAlias = Callable[[Row], int | float | None]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """What a claim expects: that a measure is higher (or lower) for one entry than for another.

    The other may be a number. Equal seeds are compared with each other.
    """

    ours: str
    baseline: str | int | float
    measure: Measure
    expected: Literal["higher", "lower"]
    words: str
    """What is compared, e.g. `BNN-1 minus BNN, error in points`."""
    gains: tuple[str, str] | None = None
    """Entries that the measure is counted from, of ours and of the baseline: gains are compared."""
    counted: bool = False
    """Whether no seed changes the measure, as a number of weights: then it needs no test."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of the paper, and the comparisons that decide it: it holds if every one does."""

    sentence: str
    table: str
    pairs: Sequence[Pair]


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: its tables and claims under the full and the quick protocol."""

    name: str
    title: str
    cited: str
    tables: Callable[[bool], Sequence[Table]]
    claims: Callable[[bool], Sequence[Claim]]
    quick_seeds: Sequence[int] = range(10)
    full_seeds: Sequence[int] = (0, 1, 2)
    needs: Sequence[str] = ()
    """Data sets without which nothing can be run in full."""
    quick_needs: Sequence[str] = ()
    """Data sets without which nothing can be run quickly."""
    priority: Sequence[tuple[str, Sequence[int]]] = ()
    """Entries by name and their seeds that `make results` does in full, in this order."""

    def entries(self, *, quick: bool, table: str | None = None) -> list[Entry]:
        """Every entry of the tables (or of one) once, in order."""
        lines = [line for one in self.tables(quick) if table in (None, one.key) for line in one.lines]
        return list({line.entry.name: line.entry for line in lines}.values())
