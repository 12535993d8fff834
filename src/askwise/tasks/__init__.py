"""What a label is, by name."""

from askwise.errors import choose
from askwise.tasks.classification import classification
from askwise.tasks.task import Task

__all__ = ["TASKS", "Task", "classification", "named"]

TASKS = {"classification": classification}


def named(task: str | Task) -> Task:
    """The task of that name with its default options; a task is returned as it is."""
    return task if isinstance(task, Task) else TASKS[choose("task", task, TASKS)]()
