"""`askwise compare`: every posterior on one data set."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from askwise.cli.live import job_bar
from askwise.cli.options import AsJson, DataDir, print_json, seeds
from askwise.errors import InputError, choose

Data = Annotated[
    str | None,
    typer.Argument(
        help="digits (the default), mnist, fashion_mnist, cifar10; tags: goemotions, xed (under minilm); "
        "numbers: uci/energy and the other tables; pixels: camvid.",
        metavar="DATA",
    ),
]
Labels = Annotated[
    int | None,
    typer.Option(
        help="Labels to learn from, drawn anew for each seed; by default 1,000, of uci tables 200, of camvid "
        "120."
    ),
]
Posteriors = Annotated[
    str | None, typer.Option(metavar="NAMES", help="Only these, e.g. point,bbb; by default all.")
]
Seeds = Annotated[
    str | None,
    typer.Option(
        "--seeds",
        metavar="SEEDS",
        help="Every posterior once for each seed, e.g. 0-4; by default 0-2, with --exam 0.",
    ),
]
Network = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A network by name, with options if needed: lenet5,dropout=0.25. By default Gal's CNN in the "
        "size of the data, one hidden layer for texts and tables, SegNet for camvid; mc_dropout needs one "
        "with dropout.",
    ),
]
Epochs = Annotated[int | None, typer.Option(help="How long each posterior learns; by default 50.")]
Draws = Annotated[int | None, typer.Option(help="Networks drawn for each prediction; by default 100.")]
Ood = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Items of other data, to be told from the test items: a data set, `photos` for patches of two "
        "photographs, or `shuffled` for rows with every column mixed by itself. By default fashion_mnist "
        "(for fashion_mnist: mnist; for texts: trec) if it is here, else photos for pictures and shuffled "
        "for rows.",
    ),
]
KlWeight = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="The temperature of the KL from the prior for all posteriors that have one, e.g. 1, which is "
        "Bayes' rule; by default each has its own.",
    ),
]
Out = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder for the table, the picture and the rows.")
]
Exam = Annotated[
    bool,
    typer.Option(
        "--exam",
        help="Grade every posterior against the exact one instead, on two linear heads that a sampler has "
        "solved; data, network and training are the exam's own.",
    ),
]


def compare(
    data: Data = None,
    labels: Labels = None,
    posteriors: Posteriors = None,
    seeds_: Seeds = None,
    network: Network = None,
    epochs: Epochs = None,
    draws: Draws = None,
    ood: Ood = None,
    kl_weight: KlWeight = None,
    out: Out = Path("askwise-compare"),
    exam: Exam = False,
    data_dir: DataDir = None,
    json: AsJson = False,
) -> None:
    """Train every posterior on one data set, side by side.

    Each with its defaults, in a table, a picture and JSON: kl_weight, the metrics of the task (accuracy,
    NLL, Brier, calibration error; of tags top-1, F1; RMSE; mean IoU), ELBO, AUROC of uncertainty on other
    data, time, size. A posterior that does not fit the task or the network is named with its reason.

    Digits need no download. Interrupted, it goes on where it was; what is finished is not done again.
    """
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
        _exam(posteriors, seeds_ or "0", out, json)
    else:
        given = {name: value for name, value in own.items() if value is not None}
        _compare(data or "digits", given, posteriors, seeds_ or "0-2", out, data_dir, json)


def _compare(
    data: str,
    given: dict[str, Any],
    posteriors: str | None,
    seeds_: str,
    out: Path,
    data_dir: Path | None,
    json: bool,
) -> None:
    from askwise import compare as comparing

    names, every = _names(posteriors), seeds(seeds_)
    protocol = comparing.make(data, data_dir=data_dir, **given)
    stem = f"compare_{protocol.data.replace('/', '_')}_{protocol.labels}"
    if "network" in given:
        stem += f"_{protocol.network}"
    if "kl_weight" in given:
        stem += f"_kl{given['kl_weight']:g}"
    wanted = comparing.jobs(names, every)
    with job_bar(len(wanted)) as tell:
        found = comparing.run(protocol, wanted, kept=out / f"{stem}.jsonl", data_dir=data_dir, tell=tell)
    if not found.rows:
        raise InputError("; ".join(f"{name}: {why}" for name, why in found.refused.items()))
    said = {"labels": protocol.labels, "seeds": seeds_, "epochs": protocol.epochs, "draws": protocol.draws}
    chosen = {name: given.get(name) for name in ("network", "ood", "kl_weight")}
    command = _command([protocol.data], {**said, "posteriors": posteriors, **chosen})
    told = comparing.outcome(protocol, found, command=command)
    _show(told, comparing.write(told, out, stem=stem), _print, json)


def _names(text: str | None) -> list[str]:
    """The posteriors that are meant, in the order of the table."""
    from askwise.bayes.posteriors import POSTERIORS

    if text is None:
        return list(POSTERIORS)
    asked = [choose("posterior", name.strip(), POSTERIORS) for name in text.split(",")]
    return [name for name in POSTERIORS if name in asked]


def _refuse(given: Mapping[str, Any]) -> None:
    """An error that names the first option which the exam has of its own."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"--exam has data, network and training of its own; leave {name} out")


def _exam(posteriors: str | None, seeds_: str, out: Path, json: bool) -> None:
    from askwise.compare import exam

    protocol = exam.Protocol()
    wanted = exam.jobs(_names(posteriors), seeds(seeds_))
    with job_bar(len(wanted)) as tell:
        rows = exam.run(protocol, wanted, kept=out / "exam.jsonl", tell=tell)
    command = _command(["--exam"], {"posteriors": posteriors, "seeds": seeds_})
    told = exam.outcome(protocol, rows, command=command)
    _show(told, exam.write(told, out), _print_exam, json)


def _show(
    told: Mapping[str, Any], paths: Mapping[str, Path], print_: Callable[..., None], json: bool
) -> None:
    if json:
        print_json({**told, "files": {kind: str(path) for kind, path in paths.items()}})
    else:
        print_(told, paths)


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _command(words: Sequence[str], options: Mapping[str, Any]) -> str:
    given = [
        f"--{_dashed(name)} {shlex.quote(str(value))}" for name, value in options.items() if value is not None
    ]
    return " ".join(["askwise compare", *words, *given])


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
