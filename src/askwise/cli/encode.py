"""`askwise encode`: the features of a project's items, computed ahead of need."""

from pathlib import Path
from typing import Annotated

import typer

from askwise.cli.options import AsJson, print_json
from askwise.errors import InputError


def encode(
    name: Annotated[Path, typer.Argument(help="The project.", metavar="NAME")],
    json: AsJson = False,
) -> None:
    """Compute the features of a project's items ahead of need.

    It goes in the order of hashes, so that whatever is done is a random sample; stopped, it goes on
    where it was.
    """
    from askwise.pool import encode_ahead, features
    from askwise.project import open_project
    from askwise.runs.material import material, read_plan
    from askwise.train.progress import meter

    project = open_project(name)
    plan = read_plan(project.plan)
    known = material(plan, folder=project.folder)
    if known.encoder is None:
        raise InputError(f"{name} has no encoder; there is nothing to compute ahead")
    pool = features(known.pool, known.encoder.module, cache=project.store.with_suffix(".features"))
    before = done = refused = 0
    with meter(len(pool), "encoding", unit="items", show=not json) as advance:
        for step in encode_ahead(pool, seed=plan.seed):
            advance(step.encoded - before)
            before = done = step.encoded
            refused += len(step.quarantined)
    if json:
        print_json({"items": len(pool), "encoded": done, "refused": refused})
        return
    typer.echo(f"{name}: {done:,} items are encoded" + (f", {refused:,} of them refused" if refused else ""))
