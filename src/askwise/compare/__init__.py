"""Every posterior on one data set: how right it is, how well calibrated, how uncertain, how fast."""

from askwise.compare.measures import columns
from askwise.compare.outcome import cells, notes, outcome, write
from askwise.compare.protocol import DATA, Protocol, make
from askwise.compare.runs import Trials, jobs, run
from askwise.compare.trial import Job

__all__ = [
    "DATA",
    "Job",
    "Protocol",
    "Trials",
    "cells",
    "columns",
    "jobs",
    "make",
    "notes",
    "outcome",
    "run",
    "write",
]  # fmt: skip
