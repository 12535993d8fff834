"""A number as a caller may give it."""

from typing import TypeAlias

Number: TypeAlias = int | float
"""Whole or not; spelled out because types are checked to the letter while the tests run."""
