import sys

import pytest
import torch

from askwise.math.distance import mean_to_neighbours
from askwise.math.kmeans import kmeans
from askwise.seeding import generator
from askwise.selection import select

CENTRES = torch.tensor([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0], [20.0, 20.0]])
SIZES = (60, 40, 30, 20)


def blobs(seed=0):
    rng = torch.Generator().manual_seed(seed)
    return torch.cat([c + torch.randn(n, 2, generator=rng) for c, n in zip(CENTRES, SIZES, strict=True)])


def blob_of(position):
    return int(torch.tensor(SIZES).cumsum(0).gt(position).nonzero()[0])


def test_one_pick_from_each_cluster_the_largest_first():
    picks = select("typiclust", features=blobs(), count=4).tolist()
    assert [blob_of(p) for p in picks] == [0, 1, 2, 3]


def test_picks_are_typical_not_outlying():
    features = blobs()
    for pick in select("typiclust", features=features, count=4).tolist():
        assert torch.dist(features[pick], CENTRES[blob_of(pick)]) < 1
    far = [
        torch.dist(features[p], CENTRES[blob_of(p)]) for p in select("k_center", features=features, count=8)
    ]
    assert max(far) > 2  # control: covering the pool finds its edges


@pytest.mark.parametrize(("size", "neighbours"), [(60, 20), (12, 6), (7, 3)])
def test_density_is_over_twenty_neighbours_or_half_the_cluster(size, neighbours):
    features = blobs()[:size]
    gaps = torch.cdist(features, features).sort(dim=1).values[:, 1 : neighbours + 1].mean(1)
    assert select("typiclust", features=features, count=1).item() == gaps.argmin()


def test_density_is_that_among_items_without_a_label(monkeypatch):
    """Labels crowd at one end of a row; the middle of the rest is typical all the same."""
    monkeypatch.setattr(sys.modules["askwise.selection.typiclust"], "_CLUSTERS", 1)
    row = torch.stack([torch.arange(11.0), torch.zeros(11)], dim=1)
    crowd = torch.tensor([[0.0, 0.1]]).repeat(30, 1)
    assert select("typiclust", features=row, count=1, labelled=crowd).item() in (4, 5, 6)
    among_all = torch.cdist(row, torch.cat([row, crowd])).sort(dim=1).values[:, 1:21].mean(1)
    assert among_all.argmin() == 0  # the control: labels as neighbours


def test_clusters_with_labels_wait():
    features = blobs()
    labelled = CENTRES[[0, 2]]
    picks = select("typiclust", features=features, labelled=labelled, count=2).tolist()
    assert {blob_of(p) for p in picks} == {1, 3}


def test_more_picks_than_clusters_go_round_again(monkeypatch):
    monkeypatch.setattr(sys.modules["askwise.selection.typiclust"], "_CLUSTERS", 4)
    picks = select("typiclust", features=blobs(), count=9).tolist()
    assert len(set(picks)) == 9
    assert [blob_of(p) for p in picks[:8]] == [0, 1, 2, 3, 0, 1, 2, 3]


def test_every_item_can_be_picked_even_among_duplicates():
    features = torch.ones(7, 2)
    assert sorted(select("typiclust", features=features, count=7).tolist()) == list(range(7))


def test_large_clusters_are_ranked_by_a_part_of_them_and_still_give_every_member(monkeypatch):
    monkeypatch.setattr(sys.modules["askwise.selection.typiclust"], "_LARGEST", 15)
    monkeypatch.setattr(sys.modules["askwise.selection.typiclust"], "_CLUSTERS", 4)
    features = blobs()
    picks = select("typiclust", features=features, count=len(features)).tolist()
    assert sorted(picks) == list(range(len(features)))
    assert [blob_of(p) for p in picks[:4]] == [0, 1, 2, 3]


INNER = 5 * 284


def outlying(seed):
    """Five blobs and ten outliers, .7 % of the pool, far out in different directions."""
    rng = torch.Generator().manual_seed(seed)
    inner = torch.cat([centre + torch.randn(284, 8, generator=rng) for centre in 20 * torch.eye(5, 8)])
    far = torch.randn(10, 8, generator=rng)
    return torch.cat([inner, 50 * far / far.norm(dim=1, keepdim=True)])


def densest_of_every_cluster(features, *, count, seed):
    """The rule without the authors' care for small clusters."""
    groups = kmeans(features, count=count, rng=generator(seed, "typiclust"))
    members = [(groups == group).nonzero().squeeze(1) for group in range(count)]
    return torch.stack([some[mean_to_neighbours(features[some], count=20).argmin()] for some in members])


def outliers(rule, seeds):
    return sum(int((rule(outlying(s), count=20, seed=s) >= INNER).sum()) for s in seeds)


@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(100), marks=pytest.mark.slow)], ids=len)
def test_outliers_are_not_among_the_first_twenty_picks(seeds):
    assert outliers(lambda features, **rest: select("typiclust", features=features, **rest), seeds) == 0
    assert outliers(densest_of_every_cluster, seeds) > 5 * len(seeds)  # the control


def test_small_clusters_wait_until_nothing_else_is_left(monkeypatch):
    monkeypatch.setattr(sys.modules["askwise.selection.typiclust"], "_CLUSTERS", 3)
    features = torch.cat([blobs()[:60], torch.tensor([[500.0, 500.0], [-500.0, 0.0]])])
    picks = select("typiclust", features=features, count=62).tolist()
    assert {*picks[-2:]} == {60, 61}
    assert sorted(picks) == list(range(62))
    assert sorted(select("typiclust", features=features[-4:], count=4).tolist()) == [0, 1, 2, 3]
