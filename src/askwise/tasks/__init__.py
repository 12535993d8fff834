"""What a label is, by name."""

from collections.abc import Callable

from askwise.errors import choose
from askwise.tasks.classification import classification
from askwise.tasks.multilabel import multilabel
from askwise.tasks.regression import regression
from askwise.tasks.segmentation import segmentation
from askwise.tasks.task import Meter, Prediction, Task

__all__ = [
    "TASKS",
    "Meter",
    "Prediction",
    "Task",
    "classification",
    "multilabel",
    "named",
    "regression",
    "segmentation",
]

TASKS: dict[str, Callable[..., Task]] = {
    "classification": classification,
    "multilabel": multilabel,
    "regression": regression,
    "segmentation": segmentation,
}


def named(task: str | Task) -> Task:
    """The task of that name with its default options; a task is returned as it is."""
    return task if isinstance(task, Task) else TASKS[choose("task", task, TASKS)]()
