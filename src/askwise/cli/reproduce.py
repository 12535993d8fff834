"""`askwise reproduce`: the tables of a paper, theirs beside ours."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askwise.cli.options import AsJson, DataDir, print_json, seeds
from askwise.errors import choose

if TYPE_CHECKING:
    from askwise.papers import Outcome, Paper

_LONG = 0.5  # hours, from which on it is said how to stop and go on


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="A paper, e.g. gal2017; without one all are listed.", metavar="PAPER")
    ] = None,
    table: Annotated[str | None, typer.Option(metavar="N", help="Only this table, e.g. a.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run the reduced protocol, which its tables name as such.")
    ] = False,
    seeds_: Annotated[
        str | None,
        typer.Option(
            "--seeds",
            metavar="SEEDS",
            help="Run these seeds, e.g. 0-9; the full protocol unless --quick is given.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder of the results; PAPER/runs.jsonl is in it.")
    ] = Path("results"),
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """A paper's tables, theirs beside ours.

    And which of its claims hold. Without --quick or --seeds nothing is run: the tables are those of the
    runs that are there. Runs are appended to DIR/PAPER/runs.jsonl; interrupted, the same command goes on,
    and what is done stays done.
    """
    from askwise import papers

    if name is None:
        _list(out)
        return
    paper = papers.paper(name)
    if table is not None:
        choose(f"table of {name}", table, [one.key for one in paper.tables(quick)])
    if quick or seeds_ is not None:
        wanted = seeds(seeds_) if seeds_ is not None else list(paper.quick_seeds)
        _run(paper, wanted, table, quick, out, data_dir)
    told = papers.outcome(paper, out=out, data_dir=data_dir, table=table)
    paths = {}
    if told.sections:
        whole = told if table is None else papers.outcome(paper, out=out, data_dir=data_dir)
        paths = papers.write(whole, out / paper.name)
    if json:
        print_json({**papers.as_json(told), "files": {kind: str(path) for kind, path in paths.items()}})
        return
    _print(told)
    for path in paths.values():
        typer.echo(f"written: {path}")
    _left(paper, table, out)


def _run(
    paper: "Paper", wanted: Sequence[int], table: str | None, quick: bool, out: Path, data_dir: Path | None
) -> None:
    """Do what is missing, after saying how long it may take."""
    from askwise import papers

    entries = paper.entries(quick=quick, table=table)
    found = papers.results(entries, papers.rows(papers.runs_file(out, paper)), quick=quick)
    jobs = papers.missing(entries, wanted, found, quick=quick)
    if not jobs:
        return
    expected = papers.hours(jobs, found)
    typer.echo(
        f"{len(jobs)} {'quick ' if quick else ''}runs, about {expected:.1f} hours on one core"
        + ("; Ctrl-C stops them, and the same command goes on" if expected > _LONG else ""),
        err=True,
    )
    words = ["askwise", "reproduce", paper.name]
    words += ["--table", table] if table else []
    words += ["--quick"] if quick else []
    words += ["--seeds", ",".join(map(str, wanted))]
    done = 0

    def tell(job: "papers.Job", state: str) -> None:
        nonlocal done
        if state != "learning":
            done += 1
            typer.echo(f"{done} of {len(jobs)}: {job.title} ({state})", err=True)

    papers.do(paper, jobs, out=out, data_dir=data_dir, command=shlex.join(words), tell=tell)


def _list(out: Path) -> None:
    """Every paper, and how many of its runs are there."""
    from askwise import papers

    for paper in papers.PAPERS.values():
        done = papers.rows(papers.runs_file(out, paper))
        keys = ", ".join(one.key for one in paper.tables(True))
        typer.echo(f"{paper.name:<14}{paper.title} (tables {keys}; {len(done)} runs in {out})")


def _print(told: "Outcome") -> None:
    from rich.console import Console
    from rich.table import Table

    if not told.sections:
        typer.echo(f"no runs of {told.paper.name} are here yet")
        return
    console = Console()
    typer.echo(f"{told.paper.title}; theirs in brackets")
    for section in told.sections:
        head, lines = section.short()
        shown = Table(
            title=section.title, title_justify="left", box=None, pad_edge=False, padding=(0, 1, 0, 0)
        )
        for number, word in enumerate(head):
            shown.add_column(word, no_wrap=number == 0, justify="left" if number == 0 else "right")
        for cells in lines:
            shown.add_row(*cells)
        console.print(shown)
        typer.echo("")
    for quick, decided in told.claims.items():
        typer.echo(f"Claims{' (quick protocol)' if quick else ''}")
        for one in decided:
            typer.echo(f"  {one.verdict}: {one.claim.sentence}")


def _left(paper: "Paper", table: str | None, out: Path) -> None:
    """What is not done yet, how long it may take, and the command."""
    from askwise import papers

    done = papers.rows(papers.runs_file(out, paper))
    where = f" --table {table}" if table else ""
    for quick, usual in ((True, paper.quick_seeds), (False, paper.full_seeds)):
        entries = paper.entries(quick=quick, table=table)
        found = papers.results(entries, done, quick=quick)
        jobs = papers.missing(entries, usual, found, quick=quick)
        if jobs:
            option = "--quick" if quick else f"--seeds {usual[0]}-{usual[-1]}"
            typer.echo(
                f"{len(jobs)} {'quick' if quick else 'full'} runs are left, about "
                f"{papers.hours(jobs, found):.1f} hours on one core: askwise reproduce {paper.name}{where} "
                f"{option}"
            )
