"""`askwise compare`: every posterior on one data set."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from askwise.cli.options import AsJson, DataDir, print_json, seeds
from askwise.errors import InputError, choose


def compare(
    data: Annotated[
        str | None,
        typer.Argument(
            help="digits (the default), mnist, fashion_mnist, cifar10; tags: goemotions, xed (under minilm); "
            "numbers: uci/energy and the other tables; pixels: camvid.",
            metavar="DATA",
        ),
    ] = None,
    labels: Annotated[
        int | None,
        typer.Option(
            help="Labels to learn from, drawn anew for each seed; by default 1,000, of uci tables 200, of "
            "camvid 120."
        ),
    ] = None,
    posteriors: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these, e.g. point,bbb; by default all.")
    ] = None,
    seeds_: Annotated[
        str | None,
        typer.Option(
            "--seeds",
            metavar="SEEDS",
            help="Every posterior once for each seed, e.g. 0-4; by default 0-2, with --exam 0.",
        ),
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A network by name, with options if needed: lenet5,dropout=0.25. By default Gal's CNN in "
            "the size of the data, one hidden layer for texts and tables, SegNet for camvid; mc_dropout "
            "needs one with dropout.",
        ),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="How long each posterior learns; by default 50.")] = None,
    draws: Annotated[
        int | None, typer.Option(help="Networks drawn for each prediction; by default 100.")
    ] = None,
    ood: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Items of other data, to be told from the test items: a data set, `photos` for patches "
            "of two photographs, or `shuffled` for rows with every column mixed by itself. By default "
            "fashion_mnist (for fashion_mnist: mnist; for texts: trec) if it is here, else photos for "
            "pictures and shuffled for rows.",
        ),
    ] = None,
    kl_weight: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="The temperature of the KL from the prior for all posteriors that have one, e.g. 1, which "
            "is Bayes' rule; by default each has its own.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for the table, the picture and the rows.")
    ] = Path("askwise-compare"),
    exam: Annotated[
        bool,
        typer.Option(
            "--exam",
            help="Grade every posterior against the exact one instead, on two linear heads that a sampler "
            "has solved; data, network and training are the exam's own.",
        ),
    ] = False,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Train every posterior on one data set, side by side.

    Each with its defaults, in a table, a picture and JSON: kl_weight, the measures of the task (accuracy,
    NLL, Brier, calibration error; of tags top-1, F1; RMSE; mean IoU), ELBO, AUROC of uncertainty on other
    data, time, size. A posterior that does not fit the task or the network is named with its reason.

    Digits need no download. Interrupted, it goes on where it was; what is finished is not done again.
    """
    from askwise import compare as comparing
    from askwise.bayes.posteriors import POSTERIORS

    names = _names(posteriors, POSTERIORS)
    own = {
        "labels": labels,
        "network": network,
        "epochs": epochs,
        "draws": draws,
        "ood": ood,
        "kl_weight": kl_weight,
    }
    if exam:
        _refuse(
            {"the name of a data set": data, **{f"--{_dashed(name)}": value for name, value in own.items()}}
        )
        _exam(names, posteriors, seeds_ or "0", out, json)
        return
    seeds_ = seeds_ or "0-2"
    chosen = seeds(seeds_)
    given: dict[str, Any] = {name: value for name, value in own.items() if value is not None}
    protocol = comparing.make(data or "digits", data_dir=data_dir, **given)
    stem = f"compare_{protocol.data.replace('/', '_')}_{protocol.labels}"
    if network is not None:
        stem += f"_{protocol.network}"
    if kl_weight is not None:
        stem += f"_kl{kl_weight:g}"
    wanted = comparing.jobs(names, chosen)
    with _progress(len(wanted)) as tell:
        found = comparing.run(protocol, wanted, kept=out / f"{stem}.jsonl", data_dir=data_dir, tell=tell)
    if not found.rows:
        raise InputError("; ".join(f"{name}: {why}" for name, why in found.refused.items()))
    said = {"labels": protocol.labels, "seeds": seeds_, "epochs": protocol.epochs, "draws": protocol.draws}
    command = _command(
        [protocol.data],
        {**said, "posteriors": posteriors, "network": network, "ood": ood, "kl_weight": kl_weight},
    )
    told = comparing.outcome(protocol, found, command=command)
    paths = comparing.write(told, out, stem=stem)
    if json:
        print_json({**told, "files": {kind: str(path) for kind, path in paths.items()}})
    else:
        _print(told, paths)


def _names(text: str | None, known: Mapping[str, Any]) -> list[str]:
    """The posteriors that are meant, in the order of the table."""
    if text is None:
        return list(known)
    asked = [choose("posterior", name.strip(), known) for name in text.split(",")]
    return [name for name in known if name in asked]


def _refuse(given: Mapping[str, Any]) -> None:
    """An error that names the first option which the exam has of its own."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"--exam has data, network and training of its own; leave {name} out")


def _exam(names: list[str], posteriors: str | None, seeds_: str, out: Path, json: bool) -> None:
    from askwise.compare import exam

    protocol = exam.Protocol()
    wanted = exam.jobs(names, seeds(seeds_))
    with _progress(len(wanted)) as tell:
        rows = exam.run(protocol, wanted, kept=out / "exam.jsonl", tell=tell)
    command = _command(["--exam"], {"posteriors": posteriors, "seeds": seeds_})
    told = exam.outcome(protocol, rows, command=command)
    paths = exam.write(told, out)
    if json:
        print_json({**told, "files": {kind: str(path) for kind, path in paths.items()}})
    else:
        _print_exam(told, paths)


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _command(words: Sequence[str], options: Mapping[str, Any]) -> str:
    given = [
        f"--{_dashed(name)} {shlex.quote(str(value))}" for name, value in options.items() if value is not None
    ]
    return " ".join(["askwise compare", *words, *given])


@contextmanager
def _progress(count: int) -> Iterator[Callable[[Any, str], None]]:
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


def _print(told: Mapping[str, Any], paths: Mapping[str, Path]) -> None:
    from rich.console import Console
    from rich.table import Table

    from askwise.compare import cells, columns, notes

    table = Table(box=None, pad_edge=False, collapse_padding=True)
    table.add_column("posterior\nKL weight", no_wrap=True)
    every = columns(told["task"])
    for column in every[1:]:
        if not column.brief:
            continue
        table.add_column(f"{column.title}\n{column.under}", justify="right", no_wrap=True)
    for name in told["summary"]:
        # The deviation stands below its mean, and the weight below the name, to fit 80 characters.
        (weight, _), *measured = (
            cell for cell, column in zip(cells(told, name), every, strict=True) if column.brief
        )
        table.add_row(f"{name}\n  {weight}", *("\n".join(filter(None, cell)) for cell in measured))
    Console().print(table)
    for line in notes(told):
        typer.echo(line)
    typer.echo(f"table: {paths['md']}, picture: {paths['png']}, JSON: {paths['json']}")


def _print_exam(told: Mapping[str, Any], paths: Mapping[str, Path]) -> None:
    from rich.console import Console
    from rich.table import Table

    from askwise.compare.exam import COLUMNS, lines, notes

    for name, part in told["heads"].items():
        typer.echo(f"{name}: {part['about']}")
        table = Table(box=None, pad_edge=False, collapse_padding=True)
        table.add_column("posterior", no_wrap=True)
        for one, two in (("prior", ""), *(titles[:2] for titles in COLUMNS.values())):
            table.add_column(f"{one}\n{two}", justify="right", no_wrap=True)
        for row, cells in lines(part).items():
            table.add_row(row, *("\n".join(filter(None, cell)) for cell in cells))
        Console().print(table)
        typer.echo("")
    for note in notes(told):
        typer.echo(note)
    typer.echo(f"table: {paths['md']}, JSON: {paths['json']}")
