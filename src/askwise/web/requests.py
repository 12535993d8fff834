"""What the server may ask the trainer for, by name: computed between two steps, told in what JSON holds."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from askwise.loop.learner import Learner
    from askwise.loop.live import Live
    from askwise.loop.plan import Plan
    from askwise.pool.pool import Pool
    from askwise.project import Project


@dataclass(frozen=True)
class Work:
    """What the trainer works with."""

    ours: "Learner"
    live: "Live"
    project: "Project"
    plan: "Plan"
    pool: "Pool"


Request: TypeAlias = Callable[[Work, dict[str, Any]], Any]


def suspects(work: Work, wanted: dict[str, Any]) -> list[dict[str, Any]]:
    """Labels that the model disagrees with, the most suspect first; none while there are too few to say."""
    from askwise.errors import InputError

    try:
        found = work.ours.suspects(count=wanted["count"])
    except InputError:
        return []
    return [
        {"id": one.id, "likelier": one.likelier, "p": one.probability, "other": one.likelier_probability}
        for one in found
    ]


def alike(work: Work, wanted: dict[str, Any]) -> dict[str, Any]:
    """Items whose features are like those of some."""
    return vars(work.ours.finder.alike(wanted["items"], count=wanted["count"]))


def of_class(work: Work, wanted: dict[str, Any]) -> dict[str, Any]:
    """Items that the model would give a class."""
    return vars(work.ours.finder.of_class(wanted["name"], unsure=wanted["unsure"], count=wanted["count"]))


def pool_map(work: Work, wanted: dict[str, Any]) -> dict[str, Any]:
    """Where some of the items are on the map, and how many there are."""
    found = work.ours.finder.drawn(wanted["count"])
    return {"ids": found.ids, "places": found.places.round(4).tolist(), "of": len(work.ours.finder.map().ids)}


def inside(work: Work, wanted: dict[str, Any]) -> dict[str, Any]:
    """Items of the map within a polygon; all of them are counted."""
    import numpy as np

    ids = work.ours.finder.inside(np.array(wanted["corners"], float))
    return {"ids": ids[: wanted["count"]], "of": len(ids)}


def certify(work: Work, wanted: dict[str, Any]) -> dict[str, Any]:
    """How an attempt to certify labels stands: the checks that it waits for, or what has come of it.

    The model is put on the disk first: a server that begins again must have the same one, or the attempt is
    lost.
    """
    from askwise.export.certified import write_certified
    from askwise.store.facts import Question

    work.live.step()
    work.live.keep()
    found = work.ours.certify(**wanted)
    told = write_certified(work.project.exports, found, work.plan, work.pool)
    times = Counter(one.id for one in work.ours.store.facts(Question) if one.kind == "check")
    guesses = [question.guess for question in found.waits_for]
    told["asked"] = [
        {"id": one.id, "question": one.question, "guess": guess, "again": times[one.id] > 1}
        for one, guess in zip(found.asked, guesses, strict=True)
    ]
    return told


REQUESTS: dict[str, Request] = {
    "suspects": suspects,
    "alike": alike,
    "of_class": of_class,
    "map": pool_map,
    "inside": inside,
    "certify": certify,
}
