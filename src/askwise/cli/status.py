"""`askwise status`: how far runs are."""

from typing import Annotated, Any

import typer

from askwise.cli.options import AsJson, print_json


def status(
    of: Annotated[
        list[str],
        typer.Argument(help="Projects, plans, stores, or folders of stores.", metavar="NAME|PLAN|STORE..."),
    ],
    json: AsJson = False,
) -> None:
    """Say how far runs are, how good, and what is next."""
    from askwise.cli.standing import standing
    from askwise.cli.stores import opened

    with opened(of) as stores:
        found = [standing(store) for store in stores]
    if json:
        print_json({"runs": found})
        return
    for number, one in enumerate(found):
        if number:
            typer.echo("")
        for line in _lines(one):
            typer.echo(line)


def _lines(one: dict[str, Any]) -> list[str]:
    from askwise.loop.calibration import Tempered

    metrics = ", ".join(f"{key} {value:.3f}" for key, value in one["metrics"].items())
    rest = "".join(f", {one[key]} {key}" for key in ("open", "skipped", "quarantined") if one[key])
    part = f" ({one['measured_on']})" if one["measured_on"] else ""
    held = f" + {one['validation']:,} for validation" if one["validation"] else ""
    tests = f", {one['tested']} of them to test" if one["quality"] else ""
    kept = f", {one['region']:,} kept for testing" if one["region"] else ""
    lines = [
        f"{one['store']}: {one['method']}, seed {one['seed']}",
        f"  labels  {one['labelled'] + one['tested']} of {one['budget']}{tests}{held}; "
        f"{one['items']:,} items{kept}{rest}",
        f"  rounds  {one['rounds']}{f', {metrics}{part}' if metrics else ''}",
        *(f"  {head:<7} {line}" for head, line in (one["quality"] or {}).get("said", [])),
        *([f"  sure    {Tempered(**one['calibration'])}"] if one["calibration"] else []),
        *_certificate(one["certificate"]),
        *([f"  encoder {one['encoders']}"] if one["encoders"] else []),
        f"  next    {one['do']}",
    ]
    if one["changed"]:
        what = ", ".join(one["changed"])
        lines.insert(3, f"  note    changed on the way: {what}; results repeat to the bit only in between")
    return lines


def _certificate(found: dict[str, Any] | None) -> list[str]:
    if found is None:
        return []
    said = f"{found['labels']:,} labels, at most {100 * found['error']:g} % of them wrong"
    return [f"  certified {said}" + (f"; void: {found['void']}" if found["void"] else "")]
