"""The number of threads that torch computes with, changed inside a block."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from askwise.errors import InputError, positive

MOST = 1024
"""Processes or threads that anybody can mean; more would only exhaust the machine."""


def counted(name: str, value: int) -> int:
    """`value`, if it is a sensible number of processes or threads."""
    if positive(name, value) > MOST:
        raise InputError(f"{name} = {value} cannot be meant; this machine has {os.cpu_count()} cores")
    return value


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Use `count` torch threads in this block, then restore the old number.

    >>> from askwise.engine import threads
    >>> with threads(1):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    if before == count:
        yield
        return
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
