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
    from askwise.cli.stores import opened_project
    from askwise.loop.featured import feature_folder
    from askwise.pool import encode_ahead, features
    from askwise.runs.material import material
    from askwise.train.progress import meter

    with opened_project(name) as (project, plan, store):
        cache = feature_folder(store)
        if cache is None:
            raise InputError(
                f"store {store.name} has no folder for features; add ?folder=/path to its address"
            )
    known = material(plan, folder=project.folder)
    if known.encoder is None:
        raise InputError(f"{name} has no encoder; there is nothing to compute ahead")
    pool = features(known.pool, known.encoder.module, cache=cache)
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
