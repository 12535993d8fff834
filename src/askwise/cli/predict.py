"""`askwise predict`: what the model of a project says of new items."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli.options import AsJson, print_json
from askwise.errors import InputError

if TYPE_CHECKING:
    from askwise.loop.plan import Plan
    from askwise.project import Project
    from askwise.store import Store


def predict(
    name: Annotated[Path, typer.Argument(help="The project.", metavar="NAME")],
    input_: Annotated[
        Path | None,
        typer.Option(
            "--input", metavar="DIR|FILE", help="Items of the same kind; by default the project's own."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A .csv, .jsonl or .parquet file; by default in the project."),
    ] = None,
    risk: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="Mark an item for a person if it is wrong with a higher probability."
        ),
    ] = 0.1,
    append: Annotated[
        bool,
        typer.Option("--append", help="Keep the rows of the output that still hold, and add the others."),
    ] = False,
    json: AsJson = False,
) -> None:
    """Predict new items, with probabilities and uncertainty.

    Of the project's own items it also says what people said; it leaves to a person only what has no answer.
    Run again on a folder that has grown, it encodes only what is new.
    With --append it also predicts only what is new: a row of the output is kept if it is by the present model
    and has the present label, and is replaced otherwise. Rows of items that are no longer there stay; the
    column round tells by which model each row is.
    """
    from askwise.cli.stores import opened_project
    from askwise.export import pool_for
    from askwise.export.predictions import ROUND, columns_of, predictions, still_holding
    from askwise.export.tables import read_table, table_format, write_table
    from askwise.loop.featured import feature_folder
    from askwise.runs.trained import last_model

    with opened_project(name) as (project, plan, store):
        path = output or project.exports / "predictions.csv"
        table_format(path)
        trained = last_model(plan, store, folder=project.folder)
        data, cache = input_ or str(plan.data), feature_folder(store)
        pool = pool_for(trained.fitted, data, cache=cache, folder=project.folder)
        labels = _labels(plan, store) if _own(project, plan, input_) else None
        own, told = columns_of(trained.fitted, labelled=labels is not None), Told()
        number = trained.round.number
        noted = {} if ROUND in own else {ROUND: number}  # a number may be so called
        if append and not noted:
            raise InputError(
                f"a number of the model is called {ROUND!r}, so that no column can tell which model a row is "
                "by; leave --append out"
            )
        columns = [*own[:-1], *noted, own[-1]]
        before = read_table(path, columns) if append and path.exists() else []
        known = still_holding(trained.fitted, before, number=number, labels=labels) if before else set[str]()
        how: dict[str, Any] = {"draws": trained.draws, "seed": trained.seed, "risk": risk, "labels": labels}
        found = told.counted(predictions(trained.fitted, pool, known=known, progress=not json, **how))
        rows = {row["id"]: {**row, **noted} for row in found}
        stay = [row for row in before if row["id"] not in rows]
        write_table(path, columns, [*stay, *rows.values()])
    total, again = len(rows), len(before) - len(stay)
    earlier = sum(str(row[ROUND]) != str(number) for row in stay)
    classes = trained.fitted.classes if plan.kind == "classification" else ()
    if json:
        rest = {"items": total, "kept": len(stay), "replaced": again, "earlier": earlier}
        print_json({"output": str(path), "round": number} | rest | told.as_json(classes))
        return
    items = f"{total - again:,} new items after {len(before):,}" if before else f"{total:,} items"
    if again:
        items += f", {again:,} others predicted again"
    if told.labelled:
        items += f", {told.labelled:,} of them labelled already (column label)"
    typer.echo(f"{path}: {items}, by the model of round {number}")
    if earlier:
        typer.echo(
            f"  {earlier:>7,}  rows by earlier models stay: their items are not among these (column round)"
        )
    for line in told.lines(classes, risk=None if plan.kind == "regression" else risk):
        typer.echo(line)


def _own(project: "Project", plan: "Plan", given: Path | None) -> bool:
    """Whether the items are the project's own: an item of another folder may have the id of one of them."""
    if given is None:
        return True
    data = project.folder / str(plan.data)  # an absolute path stays as it is
    return given.resolve() == data.resolve()


def _labels(plan: "Plan", store: "Store") -> dict[str, str]:
    """What people said of the items, by id; who skipped an item has not answered, and may be asked again."""
    from askwise.cli.export import labelling_of
    from askwise.export.labels import labels_of
    from askwise.store.facts import CANNOT_TELL

    found = labels_of(store, labelling_of(plan, store))
    words = {one.id: "cannot_tell" if one.told is CANNOT_TELL else one.told for one in found}
    return {name: word for name, word in words.items() if isinstance(word, str)}


class Told:
    """How many items the model gave each class, left to a person, and could not read.

    Items that have a label are counted apart: of these a person knows better.
    """

    def __init__(self) -> None:
        self.classes: Counter[str | None] = Counter()
        self.items = self.labelled = self.ask = self.refused = self.unlike = 0

    def counted(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The rows, unchanged; each is counted as it passes."""
        for row in rows:
            read = row["total"] is not None
            self.unlike += read and row["error"] is not None
            if not read:
                self.refused += 1
            elif row.get("label") is not None:
                self.labelled += 1
            else:
                self.items += 1
                self.classes[row.get("class")] += 1
                self.ask += row.get("ask") or 0
            yield row

    def as_json(self, classes: Iterable[str]) -> dict[str, Any]:
        """What was counted, as plain values."""
        by_class = {label: self.classes[label] for label in classes}
        return {
            "refused": self.refused,
            "unlike": self.unlike,
            "labelled": self.labelled,
            "ask": self.ask,
            "classes": by_class,
        }

    def lines(self, classes: Iterable[str], *, risk: float | None) -> Iterator[str]:
        """What was counted, for a person; `risk` is the share of errors above which one is asked."""
        for label in classes:
            yield f"  {self.classes[label]:>7,}  {label}"
        if self.refused:
            yield f"  {self.refused:>7,}  refused: see the column error"
        if self.unlike:
            yield f"  {self.unlike:>7,}  like nothing that the model knows: see the column error"
        if risk is not None:
            share = f"{100 * risk:g} %"
            if self.labelled and not self.items + self.refused:
                yield "every item has a label: nobody need be asked"
                return
            yield f"ask a person about {self.ask:,}: there the model may be wrong in more than {share}"
