"""Dropout rates as networks take them."""

from askwise.errors import InputError


def rate(dropout: float) -> float:
    """The rate, if it is one."""
    if not 0 <= dropout < 1:
        raise InputError(f"dropout is a rate from 0 up to below 1, not {dropout}")
    return dropout
