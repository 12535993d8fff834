"""`askwise encoders`: the networks that turn photos and texts into features."""

from typing import Annotated, Any

import typer

from askwise.cli.options import AsJson, print_json


def encoders(
    speed: Annotated[
        bool, typer.Option(help="Measure how many items each encodes in a second on one thread.")
    ] = True,
    json: AsJson = False,
) -> None:
    """List encoders: size, licence, speed, how to install them."""
    from askwise.encoders import known

    rows: dict[str, dict[str, Any]] = {}
    for record in known():
        rows[record.name] = {
            "takes": record.takes,
            "size": record.size,
            "features": record.width,
            "bytes": record.bytes,
            "licence": record.licence,
            "where": None if record.place is None else str(record.place),
            "install": record.install,
            "items_per_second": _speed(record.name) if speed and record.place is not None else None,
        }
        if not json:
            typer.echo(_line(record.line(), rows[record.name]))
    if json:
        print_json(rows)


def _line(about: str, row: dict[str, Any]) -> str:
    if row["where"] is None:
        return f"{about}; not installed: {row['install']}"
    rate = row["items_per_second"]
    return f"{about}{'' if rate is None else f'; {rate:.0f} items a second'}; {row['where']}"


def _speed(name: str) -> float | None:
    import torch

    from askwise.encoders import items_per_second, load

    encoder, threads = load(name), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return None if encoder is None else round(items_per_second(encoder), 1)
    finally:
        torch.set_num_threads(threads)
