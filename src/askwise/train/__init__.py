"""Learning from labelled examples."""

from askwise.train.epochs import History, Terms, Training, train
from askwise.train.examples import Examples, examples

__all__ = ["Examples", "History", "Terms", "Training", "examples", "train"]
