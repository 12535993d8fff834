"""`askwise certify|estimate|suspects|finish`: labels to trust, the share of a class, the final model."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askwise.cli.options import AsJson, DataDir, item_line, print_json
from askwise.errors import InputError, command

if TYPE_CHECKING:
    from askwise.loop.learner import Learner
    from askwise.loop.plan import Plan
    from askwise.loop.shares import Share
    from askwise.oracle import Oracle
    from askwise.runs.material import Material

Name = Annotated[Path, typer.Argument(help="A project, or a plan in a TOML file.", metavar="NAME")]
Answers = Annotated[
    str | None, typer.Option("--oracle", metavar="FILE|simulated", help="Who answers, as for askwise run.")
]


def certify(
    name: Name,
    error: Annotated[
        float, typer.Option(help="The largest share of the certified labels that may be wrong.")
    ],
    confidence: Annotated[float, typer.Option(help="The probability with which that holds.")] = 0.95,
    checks: Annotated[int, typer.Option(help="Items that may be checked.")] = 200,
    oracle: Answers = None,
    data: DataDir = None,
    json: AsJson = False,
) -> None:
    """Label what is left at a promised error, or say why not.

    Run again with the same options it goes on with the same attempt, and once that has certified, it says so.
    A new model, new items or other options begin a further attempt, which must be surer.
    """
    from askwise.export.certified import write_certified

    with opened(name, data, oracle) as (ours, plan, known, answers, home):
        found = ours.certify(error=error, confidence=confidence, checks=checks, oracle=answers)
        waiting = [vars(question) for question in found.waits_for]
        told = write_certified(home / "exports", found, plan, known.pool)
    if json:
        print_json({**told, "waits_for": waiting, "already": found.already})
    elif waiting:
        typer.echo(f"attempt {found.attempt} waits for {len(waiting)} checks: name the class of each item")
        for question in found.waits_for:
            typer.echo(f"  {item_line(question.id, question.name)}")
        typer.echo("give the answers with: --oracle labels.csv (columns id,label)")
    elif not told["certified"]:
        typer.echo(f"cannot certify: {told['reason']}")
    else:
        head = "certified already, and nothing has changed since" if found.already else "certified"
        typer.echo(f"{head}: {told['promise']} (confidence {100 * confidence:g} %)")
        for label, count in told["classes"].items():
            of_class = f"{count['labels']:>7,}  {label}: {count['checks']} checked, {count['wrong']} wrong"
            typer.echo(f"  {of_class}")
        typer.echo(f"labels: {told['output']}")
        typer.echo("A model that is trained again, or new items, void the certificate.")


def estimate(
    name: Name,
    class_: Annotated[
        str | None, typer.Option("--class", metavar="CLASS", help="The class or tag that is counted.")
    ] = None,
    mean: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="The number whose mean is wanted, where labels are numbers."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Columns of the data: an estimate for each of their values."),
    ] = None,
    width: Annotated[
        float | None, typer.Option(help="The wanted width of the interval: say how many answers it takes.")
    ] = None,
    more: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Ask N more uniform questions first.")
    ] = None,
    oracle: Answers = None,
    data: DataDir = None,
    json: AsJson = False,
) -> None:
    """Estimate the share of a class, or a mean, with an interval.

    It rests on the test answers, which are uniform draws, and is sharpened by the model's predictions.
    """
    from askwise.runs.material import columns_of

    if width is not None and (width <= 0 or (mean is None and width >= 1)):
        limits = "above 0" if mean is not None else "of shares, between 0 and 1"
        raise InputError(f"--width is the length of an interval {limits}, not {width:g}")
    with opened(name, data, oracle) as (ours, plan, known, answers, _):
        wanted = _wanted(plan, class_, mean)
        waiting = 0
        if more is not None:
            asked = ours.ask_tests(more)
            told = answers.answer(asked) if answers is not None else {}
            ours.tell(told, annotator=type(answers).__name__.lower())
            waiting = len(asked) - len(told)
        parts = None
        if by is not None:
            cells = columns_of(plan, known.pool, [one.strip() for one in by.split(",")])
            parts = {one: ", ".join(values) for one, values in cells.items()}
        found = ours.estimate(wanted, parts=parts, width=width)
    if json:
        what = ("class", "shares") if mean is None else ("number", "means")
        print_json({what[0]: wanted, what[1]: [one.as_json() for one in found], "waits_for": waiting})
        return
    typer.echo(f"{'share' if mean is None else 'mean'} of {wanted}, 95 % interval:")
    for one in found:
        typer.echo(f"  {one.part}: {_estimate_line(one, mean is None, width)}")
    for kind in sorted({one.estimate.interval for one in found if one.estimate}):
        typer.echo(f"This is {kind}.")
    if mean is not None:
        typer.echo("It is the mean of items that could be told.")
    if len(found) > 1:
        typer.echo("Each interval holds by itself, not all of them together.")
    if waiting:
        typer.echo(f"{waiting} questions wait for answers: {command('run', name, '--oracle', 'labels.csv')}")


def _estimate_line(one: "Share", share: bool, width: float | None) -> str:
    """An estimate with its interval, or why there is none."""
    if one.estimate is None:
        return f"not known: {one.why}"
    e = one.estimate
    rest = f"; {one.skipped} skipped" if one.skipped else ""
    need = "" if one.more is None else f"; {one.more:,} more answers for a width of {width:g}"
    if width is not None and width < e.floor:
        need = f"; no width of {width:g}: the {one.more:,} questions left would give about {e.floor:.2g}"
    shown = f"{e.value:.4g} ({e.low:.4g} to {e.high:.4g})"
    if share:
        shown = f"{100 * e.value:.1f} % ({100 * e.low:.1f} to {100 * e.high:.1f})"
    return f"{shown}, {e.answers} answers{rest}{need}"


def _wanted(plan: "Plan", class_: str | None, mean: str | None) -> str:
    """The class or the number that is meant; an error where it does not go with the task."""
    numbers = plan.kind == "regression"
    named, other = (mean, class_) if numbers else (class_, mean)
    if named is None or other is not None:
        option = "--mean" if numbers else "--class"
        raise InputError(
            f"labels of {plan.kind} are estimated with {option}, one of: {', '.join(plan.names)}"
        )
    return named


def suspects(
    name: Name,
    count: Annotated[int, typer.Option(min=1, help="How many to list at most.")] = 20,
    data: DataDir = None,
    json: AsJson = False,
) -> None:
    """List labels that the model disagrees with.

    Those that it doubts most come first. Each label is judged by a model that was trained without it; where
    they differ, the label may still be right.
    """
    from askwise.project import is_project

    with opened(name, data, None) as (ours, _, _, _, _):
        every, people = ours.suspects(), ours.annotators()
        labels = ours.status().counts.labelled
    found = every[:count]
    rated = {} if people is None else dict(zip(people[0], people[1].accuracy.tolist(), strict=True))
    if json:
        listed = [asdict(one) for one in found]
        print_json({"suspects": listed, "disagrees": len(every), "labels": labels, "annotators": rated})
        return
    typer.echo(_disagrees(len(every), labels, len(found)))
    for one in found:
        typer.echo(
            f"  {item_line(one.id, one.name)}: {one.label} ({one.probability:.3f}), likelier {one.likelier} "
            f"({one.likelier_probability:.3f})"
        )
    if found and is_project(name):
        typer.echo(f"look at them again; if one is wrong: {command('correct', name, 'ITEM', 'LABEL')}")
    for who, accuracy in rated.items():
        typer.echo(
            f"  {who or 'unnamed'}: {100 * accuracy:.1f} % right, by Dawid and Skene's model (an estimate)"
        )


def _disagrees(every: int, labels: int, listed: int) -> str:
    """How many labels the model disagrees with, and which of them are listed."""
    if not every:
        return f"the model disagrees with none of {labels:,} labels"
    most = f"the {listed:,} it doubts most" if listed < every else "those it doubts most first"
    return f"the model disagrees with {every:,} of {labels:,} labels; {most}:"


def finish(
    name: Name,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the model goes; by default in the project.")
    ] = None,
    data: DataDir = None,
    json: AsJson = False,
) -> None:
    """Train the last model on all answers, and save it.

    The run itself is left as it is, and can go on.
    """
    from dataclasses import replace

    from askwise.loop.calibration import note, noted
    from askwise.loop.saying import as_json, between

    with opened(name, data, None) as (ours, plan, _, _, home):
        model, answers, before = ours.finish()
        known = None if before is None else as_json(before, plan.classes)
        place = out or home / "exports" / "final"
        told = noted(ours.rounds()[-1])
        kept = {"answers": answers, "before_the_final_training": known, **note(told)}
        replace(model, quality=kept).save(place)
    if json:
        print_json({"output": str(place), "answers": answers, "quality": known, **note(told)})
        return
    typer.echo(f"{place}: a model of all {answers} answers")
    if before is not None and before.accuracy is not None:
        low = f"{100 * before.accuracy.low:.1f} %"
        typer.echo(f"accuracy at least {low} (95 %), by test answers before this training")
    elif before is not None and before.tags:
        typer.echo("accuracy of every tag (95 % for all together), by test answers before this training:")
        for tag, band in before.tags.items():
            typer.echo(f"  {tag} {between(band)}")
    else:
        why = before.why if before is not None else ""
        typer.echo("how often it is right was not measured" + (f": {why}" if why else ""))
    if told is not None:
        typer.echo(str(told))


@contextmanager
def opened(
    name: Path, data: Path | None, source: str | None
) -> "Iterator[tuple[Learner, Plan, Material, Oracle | None, Path]]":
    """The learner of a project, its plan, its items, who answers, and its folder."""
    from askwise.cli.stores import plan_path, store_path
    from askwise.project import PLAN, Project
    from askwise.project.working import working_plan
    from askwise.runs.build import learner, oracle
    from askwise.runs.material import material, read_plan

    path = plan_path(name)
    plan = working_plan(Project(path.parent)) if path.name == PLAN else read_plan(path)
    store = store_path(path, plan)
    if isinstance(store, Path) and not store.exists():
        raise InputError(f"{name} has no run yet; start one: {command('run', name)}")
    known = material(plan, data_dir=data, folder=path.parent)
    answers = None if source is None else oracle(source, plan, known)
    with learner(plan, known, store=store, answers=answers, folder=path.parent, progress=True) as ours:
        yield ours, plan, known, answers, store.parent if isinstance(store, Path) else path.parent
