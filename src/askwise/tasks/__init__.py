"""What a label is, by name."""

from collections.abc import Callable, Mapping
from typing import Any

from askwise.errors import InputError, check_options, choose
from askwise.tasks.classification import classification
from askwise.tasks.multilabel import multilabel
from askwise.tasks.regression import ScaleWarning, regression
from askwise.tasks.segmentation import segmentation
from askwise.tasks.task import Meter, Prediction, Task

__all__ = [
    "TASKS",
    "Meter",
    "Prediction",
    "ScaleWarning",
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


def named(task: str | Task | Mapping[str, Any]) -> Task:
    """The task of that name, with default options or those beside it in a mapping; a task as it is.

    >>> aw.tasks.named({"name": "regression", "tau": 2.0}).name
    'regression'
    """
    if isinstance(task, Task):
        return task
    given = {"name": task} if isinstance(task, str) else dict(task)
    if not isinstance(given.get("name"), str):
        raise InputError(f"a task is a name, one of {', '.join(TASKS)}, or a table with a name, not {task!r}")
    name = choose("task", given.pop("name"), TASKS)
    check_options(f"task {name!r}", TASKS[name], given, given=())
    return TASKS[name](**given)
