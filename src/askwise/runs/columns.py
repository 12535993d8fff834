"""Columns of a plan's data beside what is learned from: groups such as a patient, parts such as a year."""

from collections.abc import Sequence
from pathlib import Path

from askwise.errors import InputError
from askwise.loop.plan import Plan
from askwise.pool import Pool
from askwise.pool.tables import rows


def columns_of(plan: Plan, pool: Pool, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The cells of these columns for every item; data without columns are refused."""
    path = Path(plan.data or "")
    if not path.is_file() or path.suffix.lower() == ".npy":
        raise InputError(f"{plan.data} has no columns, and {', '.join(names)} should be among them")
    cells = [row.cells for row in rows(path, list(names))]
    return {name: cells[place] for name in pool.ids if (place := pool.row(name)) < len(cells)}
