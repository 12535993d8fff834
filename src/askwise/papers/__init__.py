"""The papers' tables, theirs beside ours: one file a paper, its numbers, our runs and its claims."""

from collections.abc import Mapping

from askwise.errors import choose
from askwise.papers import alvarez, gal2017, kirsch2019, loustau2023, shridhar2019, zeng2018
from askwise.papers.claims import FAILS, HOLDS, OPEN, Decided, decide
from askwise.papers.outcome import Outcome, Section, as_json, outcome, write
from askwise.papers.overview import overview
from askwise.papers.record import Paper, Place
from askwise.papers.work import Job, do, hours, missing, results, rows, runs_file

PAPERS: Mapping[str, Paper] = {
    one.PAPER.name: one.PAPER for one in (gal2017, zeng2018, shridhar2019, alvarez, loustau2023, kirsch2019)
}


__all__ = [
    "FAILS",
    "HOLDS",
    "OPEN",
    "PAPERS",
    "Decided",
    "Job",
    "Outcome",
    "Paper",
    "Place",
    "Section",
    "as_json",
    "decide",
    "do",
    "hours",
    "missing",
    "outcome",
    "overview",
    "paper",
    "results",
    "rows",
    "runs_file",
    "write",
]


def paper(name: str) -> Paper:
    """The paper of that name."""
    return PAPERS[choose("paper", name, PAPERS)]
