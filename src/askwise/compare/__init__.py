"""Every posterior on one data set: how right it is, how well calibrated, how uncertain, how fast."""

from askwise.compare.outcome import COLUMNS, cells, notes, outcome, write
from askwise.compare.protocol import DATA, Protocol, make
from askwise.compare.runs import Found, jobs, run
from askwise.compare.trial import Job

__all__ = [
    "COLUMNS", "DATA", "Found", "Job", "Protocol", "cells", "jobs", "make", "notes",
    "outcome", "run", "write",
]  # fmt: skip
