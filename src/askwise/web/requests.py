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


def alike(ours: "Learner", wanted: dict[str, Any]) -> dict[str, Any]:
    """Items whose features are like those of some."""
    return vars(ours.finder.alike(wanted["items"], count=wanted["count"]))


def of_class(ours: "Learner", wanted: dict[str, Any]) -> dict[str, Any]:
    """Items that the model would give a class."""
    return vars(ours.finder.of_class(wanted["name"], unsure=wanted["unsure"], count=wanted["count"]))


def pool_map(ours: "Learner", wanted: dict[str, Any]) -> dict[str, Any]:
    """Where some of the items are on the map, and how many there are."""
    found = ours.finder.drawn(wanted["count"])
    return {"ids": found.ids, "places": found.places.round(4).tolist(), "of": len(ours.finder.map().ids)}


def inside(ours: "Learner", wanted: dict[str, Any]) -> dict[str, Any]:
    """Items of the map within a polygon; all of them are counted."""
    import numpy as np

    ids = ours.finder.inside(np.array(wanted["corners"], float))
    return {"ids": ids[: wanted["count"]], "of": len(ids)}


REQUESTS: dict[str, Request] = {
    "suspects": suspects,
    "alike": alike,
    "of_class": of_class,
    "map": pool_map,
    "inside": inside,
}
