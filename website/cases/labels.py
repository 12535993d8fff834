"""Answers that cannot be labels."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

import askwise as aw
from website.cases.outcome import refused


def cases() -> Iterator[tuple[str, str]]:
    """What each answer gets."""
    x = torch.randn(30, 3, generator=torch.Generator().manual_seed(0))
    network = aw.nets.mlp(3, 2, hidden=(4,))
    learner = aw.Learner(network, pool=x, classes=["cat", "dog"], batch=3, seed=0)
    first = learner.ask()[0].row
    yield "a class that is not there", refused(lambda: learner.tell({first: "dgo"}))
    yield "a number outside the classes", refused(lambda: learner.tell({first: 7}))
    yield "an item that is not in the pool", refused(lambda: learner.tell({"nobody": "cat"}))
    learner.tell({first: "cat"})
    yield "another answer than before", refused(lambda: learner.tell({first: "dog"})) + ": it corrects"
    yield "soft labels that do not sum to 1", refused(lambda: aw.fit(network, (x, torch.full((30, 2), 0.4))))
    yield "an oracle that raises an error", refused(lambda: learner.run(oracle=_broken))
    yield "a file of answers without the columns", _file(learner, "a,b\n1,2\n")
    yield "a file of answers with an unknown class", _file(learner, f"id,label\n{learner.ask()[0].id},bird\n")
    yield "a batch larger than the pool", _all(x)
    yield "one class so far", _one_class(x)
    learner.close()
    yield "the store of a run on other items", _other_items(x)


def _all(x: Any) -> str:
    with aw.Learner(aw.nets.mlp(3, 2, hidden=(4,)), pool=x, classes=2, batch=99, seed=0) as learner:
        return f"taken: {len(learner.ask())} of {len(x)} items are asked"


def _other_items(x: Any) -> str:
    network = aw.nets.mlp(3, 2, hidden=(4,))
    with aw.Learner(network, pool=x, classes=2, store="run.db", seed=0) as learner:
        learner.ask()
    return refused(lambda: aw.Learner(network, pool=x + 1, classes=2, store="run.db", seed=0))


def _broken(_: Any) -> str:
    raise RuntimeError("the oracle is asleep")


def _file(learner: aw.Learner, content: str) -> str:
    Path("answers.csv").write_text(content)
    return refused(lambda: learner.run(oracle="answers.csv"))


def _one_class(x: Any) -> str:
    training = aw.Training(epochs=1)
    network = aw.nets.mlp(3, 2, hidden=(4,))
    with aw.Learner(network, pool=x, classes=2, batch=3, budget=6, training=training, seed=0) as learner:
        return refused(lambda: learner.run(oracle=lambda _: 0)) + ": it learns what there is"
