"""Certified labels as files: the labels, and the certificate that says what is promised of them."""

import json
from pathlib import Path
from typing import Any

from askwise.export.tables import write_table
from askwise.files import write_whole
from askwise.loop.audit import Audit
from askwise.loop.plan import Plan
from askwise.pool.pool import Pool


def write_certified(folder: Path, found: Audit, plan: Plan, pool: Pool) -> dict[str, Any]:
    """The outcome of an attempt; certified labels are in the file `output`, the promise is beside them.

    A file of what was certified before is left as it is.
    """
    told: dict[str, Any] = {"attempt": found.attempt, **found.statement}
    if not found.labels:
        return told
    place = folder / f"certified-{found.attempt}"
    told["output"] = str(place.with_suffix(".csv"))
    if found.already and place.with_suffix(".csv").exists():
        return told
    rows = [
        {"id": one, "name": pool.name(one), "label": plan.classes[label]}
        for one, label in found.labels.items()
    ]
    write_table(place.with_suffix(".csv"), ("id", "name", "label"), rows)
    write_whole(place.with_suffix(".json"), json.dumps(told, indent=1).encode())
    return told
