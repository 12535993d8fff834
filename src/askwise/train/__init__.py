"""Learning from labelled examples."""

from askwise.train.augment import augmented
from askwise.train.converged import Ending
from askwise.train.epochs import History, Terms, Training, train
from askwise.train.examples import Examples, examples, label_tensor
from askwise.train.optimizer import Adam, Optimizer

__all__ = [
    "Adam",
    "Ending",
    "Examples",
    "History",
    "Optimizer",
    "Terms",
    "Training",
    "augmented",
    "examples",
    "label_tensor",
    "train",
]
