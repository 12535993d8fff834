"""One pass over a pool: exact, in any chunks, and small."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from askwise.errors import TrainingError
from askwise.loop.score import chunk_size, score_items, subset
from askwise.pool import arrays
from askwise.seeding import hashes
from askwise.selection import select

IDS = [f"item-{number}" for number in range(200)]


def scorer(values):
    """Scores by id; items without one are bad."""

    def score(some):
        good = [name for name in some if name in values]
        bad = {name: "bad" for name in some if name not in values}
        return good, torch.tensor([values[name] for name in good], dtype=torch.float32), bad

    return lambda lists: map(score, lists)


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=200),
    st.integers(1, 20),
    st.integers(1, 64),
    st.integers(0, 3),
)
def test_the_best_of_any_chunks_are_the_best_of_all_ties_included(values, keep, chunk, seed):
    known = dict(zip(IDS, map(float, values), strict=False))
    ids = list(known)
    found = score_items(ids, scorer(known), chunk=chunk, keep=min(keep, len(ids)), seed=seed)
    whole = torch.tensor(list(known.values()))
    picks = select("top_k", scores=whole, count=min(keep, len(ids)), seed=seed, ids=ids)
    assert found.ids[: len(picks)] == [ids[place] for place in picks] or len(ids) <= keep
    assert set(found.ids) == {ids[place] for place in picks}
    assert found.count == len(ids)


def test_bad_items_are_left_out_and_change_nothing_else():
    known = {name: float(number % 17) for number, name in enumerate(IDS)}
    without = {name: value for name, value in known.items() if not name.endswith("7")}
    clean = score_items(without, scorer(without), chunk=16, keep=10, seed=0)
    troubled = score_items(known, scorer(without), chunk=16, keep=10, seed=0)
    assert (clean.ids, clean.scores.tolist()) == (troubled.ids, troubled.scores.tolist())
    assert set(troubled.quarantined) == known.keys() - without.keys()


def test_the_hash_of_the_scores_sees_every_bit_and_every_id():
    known = {name: float(number) for number, name in enumerate(IDS)}
    one = score_items(IDS, scorer(known), chunk=50, keep=3, seed=0).sha256
    assert score_items(IDS, scorer(known), chunk=50, keep=5, seed=1).sha256 == one
    assert score_items(IDS, scorer(known), chunk=7, keep=3, seed=0).sha256 == one
    known["item-3"] += 1e-6
    assert score_items(IDS, scorer(known), chunk=50, keep=3, seed=0).sha256 != one


def test_a_score_that_is_not_finite_stops_and_names_the_item():
    known = dict.fromkeys(IDS, 0.0) | {"item-77": float("nan")}
    with pytest.raises(TrainingError, match="the score of item 'item-77' is nan"):
        score_items(IDS, scorer(known), chunk=30, keep=3, seed=0)


def test_a_subset_depends_on_seed_and_ids_not_on_order():
    found = subset(IDS, 20, seed=1)
    assert found == subset(reversed(IDS), 20, seed=1)
    marks = hashes(1, IDS)
    assert set(found) == {IDS[place] for place in marks.argsort()[:20]}
    assert set(found) != set(subset(IDS, 20, seed=2))
    assert set(subset(IDS, 1000, seed=1)) == set(IDS)


def test_chunks_are_full_batches_and_smaller_where_items_are_larger_or_few():
    def many(count):
        return arrays(torch.zeros(1, 1).expand(count, 1), ids=range(count))

    assert chunk_size(many(100)) == 256
    assert chunk_size(many(50_000)) == 896  # the next multiple of 128 above a 64th
    assert chunk_size(many(1_000_000)) == 4096
    assert chunk_size(arrays(torch.zeros(1, 3, 1024, 1024))) == 1
