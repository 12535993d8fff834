"""A run that dies while it scores goes on from the shards it has."""

import pytest
import torch

import askwise as aw
from askwise.engine import Local

X = torch.randn(2000, 4, generator=torch.Generator().manual_seed(0))


class Mortal:
    """The engine of this process, which counts shards and dies before one of them."""

    name, workers, threads = "local", 1, 1

    def __init__(self, last: int) -> None:
        self.last, self.done = last, 0

    def map(self, make, shards):
        for found in Local(1).map(make, shards):
            if self.done == self.last:
                raise KeyboardInterrupt
            self.done += 1
            yield found


def asked(store, engine: Mortal) -> list[tuple[str, float | None]]:
    """The questions of a run with labels to begin with."""
    known = dict(zip(aw.pool.arrays(X).ids, [0, 1] * 10, strict=False))
    torch.manual_seed(0)
    network = aw.nets.mlp(4, 2, hidden=(4,))
    how = {"training": {"epochs": 1}, "draws": 5}
    with aw.Learner(network, pool=X, classes=2, initial=known, store=store, engine=engine, **how) as learner:
        return [(question.id, question.score) for question in learner.ask()]


def test_what_was_scored_before_the_end_is_not_scored_again(tmp_path):
    whole = Mortal(99)
    expected = asked(tmp_path / "whole.db", whole)
    assert whole.done > 5  # there are shards to lose
    with pytest.raises(KeyboardInterrupt):
        asked(tmp_path / "run.db", Mortal(5))
    kept = tmp_path / "run.db.scoring"
    assert len(list(kept.iterdir())) == 1
    rest = Mortal(99)
    assert asked(tmp_path / "run.db", rest) == expected
    assert rest.done == whole.done - 5
    assert not kept.exists()
