"""Decimal commas, as spreadsheets of many countries write them: which numbers surely have one."""

import re

_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
_EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")  # 1,234 is a little more than one, or a thousand
_GROUPS = re.compile(r"[+-]?[0-9]{1,3}((,[0-9]{3}){2,}|(,[0-9]{3})+\.[0-9]+|([. ][0-9]{3})+,[0-9]+)")


def has_comma(cell: str) -> bool:
    """Whether it is a number if its one comma is a decimal one."""
    return _COMMA.fullmatch(cell.strip()) is not None


def surely(cell: str) -> bool:
    """Whether it is a number with a comma that does not stand between thousands."""
    return has_comma(cell) and not _EITHER.fullmatch(cell.strip())


def grouped(cell: str) -> bool:
    """Whether it is a number with marks between thousands, such as 1,234.5 or 1.234,5."""
    return _GROUPS.fullmatch(cell.strip()) is not None


def with_point(cell: str) -> str:
    """The cell with a decimal point instead of the comma."""
    return cell.replace(",", ".")
