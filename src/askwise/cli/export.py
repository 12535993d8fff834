"""`askwise export`: the labels of a project, or its model, as files of their own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askwise.cli.options import AsJson, print_json
from askwise.errors import InputError, choose

if TYPE_CHECKING:
    from askwise.export.labels import Labelled
    from askwise.loop.plan import Plan
    from askwise.oracle.labelling import Labelling
    from askwise.project import Project
    from askwise.store import Store


def export(
    name: Annotated[Path, typer.Argument(help="The project.", metavar="NAME")],
    labels: Annotated[bool, typer.Option("--labels", help="Write the labels.")] = False,
    model: Annotated[bool, typer.Option("--model", help="The last model, with a card about it.")] = False,
    onnx: Annotated[
        bool, typer.Option("--onnx", help="The last model as ONNX: its mean network, or --draws of it.")
    ] = False,
    draws: Annotated[
        int | None,
        typer.Option(min=1, max=1000, metavar="T", help="Number of drawn networks in the ONNX file."),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="KIND",
            help="Format of the labels: csv, jsonl, parquet, label-studio, folders, coco; "
            "by default by the file's ending.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="PATH", help="File or folder; by default in the project.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Write the labels or the model of a project into files."""
    from askwise.cli.stores import opened_project

    if [labels, model, onnx].count(True) != 1:
        raise InputError("say what to export: --labels, --model or --onnx")
    if not labels and format_ is not None:
        raise InputError("--format goes with --labels; a model is a folder of safetensors and JSON")
    if draws is not None and not onnx:
        raise InputError("--draws goes with --onnx")
    with opened_project(name) as (project, plan, store):
        if model:
            path, what = _model(project, plan, store, output), "the model and its card"
        elif onnx:
            path, what = _onnx(project, plan, store, output, draws), "the model"
        else:
            path, counts = _labels(project, plan, store, format_, output)
            what = _counted(counts)
    if json:
        print_json({"output": str(path), **(counts if labels else {})})
        return
    typer.echo(f"{path}: {what}")


def _counted(counts: dict[str, int]) -> str:
    """How many labels there are, and how many items without one."""
    apart = f" and {counts['skipped']:,} skipped items without one" if counts.get("skipped") else ""
    return f"{counts['labels']:,} labels{apart}"


def _labels(
    project: "Project", plan: "Plan", store: "Store", kind: str | None, output: Path | None
) -> tuple[Path, dict[str, int]]:
    """Where the labels are written, and how many; items that were skipped are counted apart."""
    from askwise.export import labels as of

    endings = {".json": of.LABEL_STUDIO, "": of.FOLDERS}
    if kind is None:
        ending = ".csv" if output is None else output.suffix.lower()
        kind = endings.get(ending, ending[1:])
    choose("format of labels", kind, of.KINDS)
    usual = {of.LABEL_STUDIO: "labels.json", of.FOLDERS: "labels"}
    path = output or project.exports / usual.get(kind, f"labels.{kind}")
    if kind == of.COCO:
        path, count = _coco(project, plan, store, output)
        return path, {"labels": count}
    if kind == of.FOLDERS and plan.kind != "classification":
        raise InputError(f"{kind} takes one class for each item, and the task is {plan.kind}; use csv")
    meant = labelling_of(plan, store)
    found = of.labels_of(store, meant)
    if kind == of.LABEL_STUDIO:
        of.write_label_studio(path, found, _shown(plan, found), meant)
        return path, _apart(found)
    if kind == of.FOLDERS:
        files = _originals(plan, found)
        if found and not files:
            raise InputError(f"only pictures and texts can be put into folders; {plan.data} holds neither")
        return path, {"labels": of.write_folders(path, found, files)}
    if path.suffix.lower() != f".{kind}":
        raise InputError(f"--format {kind} and the output {path} do not agree; let it end in .{kind}")
    of.write_labels(path, found, meant)
    return path, _apart(found)


def _apart(found: "list[Labelled]") -> dict[str, int]:
    """How many items have a label, and how many were skipped."""
    from askwise.store.facts import NoLabel

    skipped = sum(isinstance(one.told, NoLabel) for one in found)
    return {"labels": len(found) - skipped, "skipped": skipped}


def _coco(project: "Project", plan: "Plan", store: "Store", output: Path | None) -> tuple[Path, int]:
    """The masks of a project as a file of COCO."""
    from askwise.export.coco import write_coco
    from askwise.oracle.masks import Masks
    from askwise.runs.material import material
    from askwise.store.labels import Mask
    from askwise.store.ledger import Ledger

    if plan.kind != "segmentation":
        raise InputError(f"coco takes masks, and the task is {plan.kind}; use csv, or label-studio")
    kept = Masks(None if store.folder is None else store.folder.with_suffix(".masks"))
    labels = Ledger(store).refresh().labels
    pool = material(plan, folder=project.folder).pool
    masks = {
        pool.name(name) if name in pool else name: kept.array(label)
        for name, label in sorted(labels.items())
        if isinstance(label, Mask)
    }
    path = output or project.exports / "labels.json"
    return path, write_coco(path, masks, plan.classes, ignore=plan.task.get("ignore"))


def labelling_of(plan: "Plan", store: "Store") -> "Labelling":
    """What a label is, with the names that classes have by now."""
    from askwise.loop.opening import stored_classes
    from askwise.oracle.labelling import labelling

    return labelling(plan.task, stored_classes(store) if plan.kind == "classification" else plan.names)


def _shown(plan: "Plan", found: "list[Labelled]") -> dict[str, dict[str, str]]:
    """What Label Studio shows of each item: the picture by its path, or the text."""
    return {
        name: {"image" if isinstance(value, Path) else "text": str(value)}
        for name, value in _originals(plan, found).items()
    }


def _originals(plan: "Plan", found: "list[Labelled]") -> dict[str, Path | str]:
    """The picture of each item as a file, or its text; items that are gone are left out."""
    from askwise.runs.material import material

    pool = material(plan).pool
    originals = {one.id: pool.original(one.id) for one in found if one.id in pool}
    return {name: value for name, value in originals.items() if value is not None}


def _model(project: "Project", plan: "Plan", store: "Store", output: Path | None) -> Path:
    from collections import Counter
    from dataclasses import replace

    from askwise.export.model import Card, write_model
    from askwise.loop.calibration import note, noted
    from askwise.loop.plan_fields import MEASURED
    from askwise.loop.saying import as_json, said
    from askwise.loop.status import status
    from askwise.runs.trained import last_model
    from askwise.store.ledger import Ledger

    trained, known = last_model(plan, store, folder=project.folder), status(store).quality
    kind = labelling_of(plan, store)
    counts = Counter(kind.text(label) for label in Ledger(store).refresh().labels.values())
    card = Card(
        name=project.folder.resolve().name,
        data=project.called(str(plan.data)),
        items=store.count(),
        labels=counts,
        round=trained.round.number,
        trained=f"{trained.fitted.posterior!r} on {trained.round.labels} labels",
        draws=trained.draws,
        metrics={part: trained.round.metrics[part] for part in MEASURED if part in trained.round.metrics},
        quality=() if known is None else [line for _, line in said(known, plan.names)],
        tempered=noted(trained.round),
    )
    path = output or project.exports / "model"
    kept = {**({} if known is None else as_json(known, plan.names)), **note(card.tempered)}
    write_model(path, replace(trained.fitted, quality=kept), card)
    return path


def _onnx(project: "Project", plan: "Plan", store: "Store", output: Path | None, draws: int | None) -> Path:
    from askwise.export.onnx import export_onnx
    from askwise.runs.trained import last_model

    trained = last_model(plan, store, folder=project.folder)
    path = output or project.exports / "model.onnx"
    return export_onnx(trained.fitted, path, draws=draws, seed=trained.seed)
