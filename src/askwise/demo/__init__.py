"""The demo: a network asks for the labels it needs, and is compared with random labelling."""

from askwise.demo.outcome import outcome
from askwise.demo.protocol import DEFAULT, METHODS, PROTOCOL, Job, Method, Protocol, method, runs

__all__ = ["DEFAULT", "METHODS", "PROTOCOL", "Job", "Method", "Protocol", "method", "outcome", "runs"]
