"""Encoding ahead: random by hash, full passes, and nothing twice."""

import numpy as np
import pytest
import torch
from torch import nn

from askwise.errors import InputError
from askwise.pool import arrays, features
from askwise.pool.ahead import encode_ahead, encoding_order
from askwise.pool.encoding import BATCH

IDS = [f"item-{number}" for number in range(500)]
ROWS = np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)


class Passes(nn.Linear):
    count = 0

    def forward(self, rows):
        Passes.count += 1
        return super().forward(rows)


def made(folder, rows=ROWS, ids=IDS):
    torch.manual_seed(0)
    return features(arrays(rows, ids=ids), Passes(4, 3).requires_grad_(False), cache=folder)


def test_every_thirty_two_of_the_order_have_places_of_their_own():
    order = encoding_order(IDS)
    assert sorted(order) == sorted(IDS)
    places = [IDS.index(name) % BATCH for name in order]
    for start in range(0, 480, BATCH):
        assert len(set(places[start : start + BATCH])) == BATCH
    assert sorted(encoding_order(IDS[:3])) == IDS[:3]
    assert encoding_order([]) == []


def test_the_order_depends_on_the_seed_and_its_beginning_is_spread_over_the_pool():
    assert encoding_order(IDS, seed=1) != encoding_order(IDS, seed=2)
    assert encoding_order(IDS, seed=1) == encoding_order(IDS, seed=1)
    firsts = [IDS.index(name) for seed in range(20) for name in encoding_order(IDS, seed=seed)[:64]]
    assert 230 < np.mean(firsts) < 270
    assert np.std(firsts) == pytest.approx(500 / 12**0.5, rel=0.1)


def test_passes_are_full_and_a_stopped_encoding_goes_on_where_it_was(tmp_path):
    pool = made(tmp_path)
    Passes.count = 0
    steps = encode_ahead(pool)
    for _ in range(5):
        step = next(steps)
    assert (step.encoded, step.total) == (5 * BATCH, 500)
    assert Passes.count == 5
    order = encoding_order(IDS)
    assert pool.kept(order).tolist() == [True] * 160 + [False] * 340

    again = made(tmp_path)  # another process
    Passes.count = 0
    found = [step.encoded for step in encode_ahead(again)]
    assert found == [*range(192, 500, BATCH), 500]
    assert Passes.count == 11
    assert [step.encoded for step in encode_ahead(again)] == [500]
    assert bool(again.kept(order).all())
    whole = made(tmp_path / "other").read(IDS).inputs
    assert torch.equal(again.read(IDS).inputs, whole)  # bit for bit, in whatever order


def test_bad_items_are_named_and_count_as_done(tmp_path):
    rows = ROWS.copy()
    rows[7] = np.nan
    steps = list(encode_ahead(made(tmp_path, rows)))
    assert steps[-1].encoded == 500
    assert {name for step in steps for name in step.quarantined} == {"item-7"}
    again = list(encode_ahead(made(tmp_path, rows)))
    assert [step.encoded for step in again] == [500]
    assert list(again[0].quarantined) == ["item-7"]


def test_only_a_pool_of_features_is_encoded():
    with pytest.raises(InputError, match="only a pool of features can be encoded"):
        next(encode_ahead(arrays(ROWS)))
