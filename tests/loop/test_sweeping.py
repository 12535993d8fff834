"""What could be swept: sure with a probability that can be believed, most sure first, nothing of the test."""

import math

import numpy as np
import pytest
import torch

import askwise as aw
from askwise.loop.sweeping import LEAST, temperatures
from askwise.nets import mlp

CLASSES = ["low", "high"]


def learner(items, **more):
    return aw.Learner(
        mlp(features=3, classes=2, hidden=()),
        pool=aw.pool.arrays(items),
        classes=CLASSES,
        posterior="laplace",
        acquire="margin",
        training={"epochs": 20},
        initial=4,
        budget=len(items),
        seed=0,
        **more,
    )


@pytest.fixture
def items():
    rows = np.random.default_rng(0).normal(size=(160, 3)).astype(np.float32)
    rows[:, 0] *= 4
    rows[150:] = rows[140:150] + 1e-4  # near-duplicates
    return rows


def answered(ours, items, count):
    """The live loop after so many answers."""
    live = ours.live()
    while len(ours._setting.ledger.refresh().labels) < count:
        live.step()
        questions = live.open()[:8]
        ours.tell({one.id: CLASSES[int(items[ours.item(one.id).row][0] > 0)] for one in questions})
    live.step()
    return live


def test_twice_as_sure_as_right_is_tempered_by_two():
    rng = torch.Generator().manual_seed(0)
    logits = torch.randn(4000, 3, generator=rng)
    labels = torch.multinomial(logits.softmax(1), 1, generator=rng).squeeze(1)
    assert temperatures([(2 * logits).log_softmax(1)], labels) == [pytest.approx(2.0, rel=0.1)]
    assert temperatures([logits.log_softmax(1)], labels) == [pytest.approx(1.0, rel=0.1)]


def test_an_opinion_that_knows_nothing_hardly_counts_in_the_mixture():
    rng = torch.Generator().manual_seed(0)
    logits = torch.randn(4000, 3, generator=rng)
    labels = torch.multinomial(logits.softmax(1), 1, generator=rng).squeeze(1)
    chance = torch.randn(4000, 3, generator=rng)
    known, unknown = temperatures([logits.log_softmax(1), chance], labels)
    assert known == pytest.approx(1.0, rel=0.1)
    assert unknown > 10
    first, second = temperatures([logits / 2, logits / 2], labels)
    assert 0.5 / first + 0.5 / second == pytest.approx(1.0, rel=0.1), "two halves make a whole"


def test_nothing_is_sure_before_there_are_labels_enough(items):
    with learner(items) as ours:
        live = answered(ours, items, LEAST - 8)
        assert len(ours._setting.ledger.labels) < LEAST
        assert live.sweepable() == []


def test_items_come_most_sure_first_with_their_near_duplicates_and_without_the_test_region(items):
    with learner(items, testing=0.2, region=0.3) as ours:
        live = answered(ours, items, LEAST)
        setting = ours._setting
        found = live.sweepable()
        assert [one.number for one in found] == [0, 1]
        kept = setting.testing()
        rows = {name: ours.item(name).row for one in found for name in one.ids}
        assert rows
        assert any(name in kept for name in setting.pool.ids)
        for one in found:
            assert not [name for name in one.ids if name in kept or name in setting.ledger.labels]
            right = [int(items[rows[name]][0] > 0) == one.number for name in one.ids]
            assert np.mean(right) > 0.8
            assert all(0.5 <= p <= 1 for p in one.sure)
            assert not any(math.isnan(p) for p in one.sure)
            first = one.ids[0]
            assert max(one.sure) == one.sure[0], first
        together = [
            abs(one.ids.index(a) - one.ids.index(b))
            for one in found
            for a in one.ids
            for b in one.ids
            if rows[a] + 10 == rows[b] and rows[b] >= 150
        ]
        assert together
        assert max(together) < 6
