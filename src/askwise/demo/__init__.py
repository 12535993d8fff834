"""The demo: a network asks for the labels it needs, and is compared with random labelling."""

from askwise.demo.outcome import outcome
from askwise.demo.protocol import DEFAULT, METHODS, PROTOCOL, Method, Protocol, method
from askwise.demo.runs import Job, News, run_all, run_one

__all__ = [
    "DEFAULT", "METHODS", "PROTOCOL", "Job", "Method", "News", "Protocol", "method",
    "outcome", "run_all", "run_one",
]  # fmt: skip
