"""Cells of a CSV that no spreadsheet takes for a formula, and back again."""

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")


def neutral(cell: str) -> str:
    """The cell with a quote before it, where a spreadsheet would compute it.

    A cell that already has quotes before a formula gets one more, so that `restored` is exact.
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def restored(cell: str) -> str:
    """The cell before `neutral`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
