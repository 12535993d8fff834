"""What the server may ask the trainer for, by name: computed between two steps, told in what JSON holds."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from askwise.loop.learner import Learner

Request: TypeAlias = "Callable[[Learner, dict[str, Any]], Any]"


def suspects(ours: "Learner", wanted: dict[str, Any]) -> list[dict[str, Any]]:
    """Labels that are probably wrong, the most doubtful first; none while there are too few to say."""
    from askwise.errors import InputError

    try:
        found = ours.suspects(count=wanted["count"])
    except InputError:
        return []
    return [
        {"id": one.id, "likelier": one.likelier, "p": one.probability, "other": one.likelier_probability}
        for one in found
    ]


REQUESTS: dict[str, Request] = {"suspects": suspects}
