import pytest
import torch

from askwise.seeding import hashes
from askwise.selection import order
from askwise.selection.order import best, gumbel, shuffled


def test_best_is_in_descending_order():
    scores = torch.tensor([0.1, 0.9, 0.5, 0.7])
    assert best(scores, count=3, seed=0, ids=range(4)).tolist() == [1, 3, 2]


def test_equal_scores_come_in_the_order_of_their_hashes():
    ids = [f"item-{i}" for i in range(30)]
    scores = torch.ones(30)
    expected = sorted(range(30), key=lambda i: int(hashes(5, ids)[i]))
    assert best(scores, count=7, seed=5, ids=ids).tolist() == expected[:7]
    assert expected[:7] != list(range(7))  # control: positions would give this
    assert best(scores, count=7, seed=6, ids=ids).tolist() != expected[:7]


def test_a_tie_at_the_last_place_is_decided_by_hash_and_nothing_else_moves():
    scores = torch.tensor([0.5, 0.9, 0.5, 0.5, 0.1])
    ids = ["a", "b", "c", "d", "e"]
    first = min((0, 2, 3), key=lambda i: int(hashes(0, ids)[i]))
    assert best(scores, count=2, seed=0, ids=ids).tolist() == [1, first]


def test_only_ids_that_reach_the_last_place_are_hashed(monkeypatch):
    seen = []

    def counting(seed, ids):
        seen.extend(ids)
        return hashes(seed, ids)

    monkeypatch.setattr(order, "hashes", counting)
    best(torch.arange(100_000.0), count=5, seed=0, ids=range(100_000))
    assert sorted(seen) == list(range(99_995, 100_000))


def test_shuffled_follows_the_ids_not_the_positions():
    ids = [f"item-{i}" for i in range(40)]
    turned = ids[::-1]
    assert [ids[i] for i in shuffled(seed=1, ids=ids)] == [turned[i] for i in shuffled(seed=1, ids=turned)]
    assert sorted(shuffled(seed=1, ids=ids).tolist()) == list(range(40))


def test_gumbel_noise_belongs_to_the_id_and_has_the_right_distribution():
    noise = gumbel(seed=0, ids=range(20_000))
    assert torch.equal(gumbel(seed=0, ids=[7, 3]), noise[[7, 3]])
    assert noise.isfinite().all()
    for level in (-1.0, 0.0, 1.0, 3.0):
        expected = torch.tensor(-level).exp().neg().exp().item()
        assert (noise < level).double().mean().item() == pytest.approx(expected, abs=0.012)


def test_noise_says_nothing_about_the_order_of_ties():
    noise, places = gumbel(seed=0, ids=range(5000)), shuffled(seed=0, ids=range(5000))
    late = noise[places[2500:]].mean() - noise[places[:2500]].mean()
    assert late.abs().item() < 0.15
