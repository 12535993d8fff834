"""Every posterior against the exact one, on heads that a sampler can solve: widths, predictions, picks."""

from askwise.compare.exam.candidates import CANDIDATES
from askwise.compare.exam.outcome import COLUMNS, lines, notes, outcome, write
from askwise.compare.exam.runs import Job, jobs, run
from askwise.compare.exam.sitting import Protocol

__all__ = ["CANDIDATES", "COLUMNS", "Job", "Protocol", "jobs", "lines", "notes", "outcome", "run", "write"]
