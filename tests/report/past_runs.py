"""Runs as facts in memory: as a loop would leave them, without the training."""

from askwise.loop.plan import make
from askwise.store.facts import Answer, Asked, Item, Planned, Question, Round, Segment
from askwise.store.memory import MemoryStore


def measured(accuracy: float) -> dict:
    bins = [[0.0, 0.0, 0.0], [10.0, 0.8, accuracy]]
    numbers = {"accuracy": accuracy, "nll": 1 - accuracy, "ece": 0.1, "brier": 0.3}
    return {**numbers, "bins": bins, "confusion": [[4, 1], [2, 3]]}


def run(accuracies, *, labels=None, **plan) -> MemoryStore:
    """A finished run of two classes, one round for each accuracy."""
    store = MemoryStore()
    labels = labels or [10 * (number + 1) for number in range(len(accuracies))]
    store.append([Planned(plan=make({"classes": ["no", "yes"], **plan}).model_dump(mode="json"))])
    store.append([Segment(conditions={"torch": "2", "threads": 1})])
    store.append([Item(id=f"i{number}") for number in range(50)])
    store.append([Question(id="i0", round=0, rank=0, score=0.4), Question(id="i1", round=0, rank=1)])
    store.append([Answer(id="i0", key="a", verdict="label", label=1)])
    for number, (count, accuracy) in enumerate(zip(labels, accuracies, strict=True), start=1):
        metrics = {} if accuracy is None else {"test": measured(accuracy)}
        store.append(
            [
                Round(
                    number=number,
                    seen=3,
                    labels=count,
                    weights="w",
                    checkpoint="c",
                    metrics=metrics,
                    seconds={"train": 1.0},
                )
            ]
        )
        asked = Asked(round=number, scored=40, picks=1, scores="s", seconds={"score": 0.5})
        store.append([asked, Question(id=f"i{number + 1}", round=number, rank=0, score=0.9, guess=0)])
    return store
