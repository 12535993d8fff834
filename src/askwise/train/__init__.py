"""Learning from labelled examples."""

from askwise.train.augment import augmented
from askwise.train.ending import EarlyStop, Ending
from askwise.train.epochs import History, Terms, train
from askwise.train.examples import Examples, examples, label_tensor, labelled_rows
from askwise.train.optimizer import Optimizer, Plain, grouped
from askwise.train.training import Course, Training, as_training

__all__ = [
    "Course",
    "EarlyStop",
    "Ending",
    "Examples",
    "History",
    "Optimizer",
    "Plain",
    "Terms",
    "Training",
    "as_training",
    "augmented",
    "examples",
    "grouped",
    "label_tensor",
    "labelled_rows",
    "train",
]
