import sys

import pytest
import torch

from askwise.errors import InputError
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


def test_the_pick_has_the_nearest_neighbours_of_its_cluster():
    features = blobs()[:60]
    gaps = torch.cdist(features, features).sort(dim=1).values[:, 1:6].mean(1)
    assert select("typiclust", features=features, count=1, neighbours=5).item() == gaps.argmin()


def test_clusters_with_labels_wait():
    features = blobs()
    labelled = CENTRES[[0, 2]]
    picks = select("typiclust", features=features, labelled=labelled, count=2).tolist()
    assert {blob_of(p) for p in picks} == {1, 3}


def test_more_picks_than_clusters_go_round_again():
    picks = select("typiclust", features=blobs(), count=9, clusters=4).tolist()
    assert len(set(picks)) == 9
    assert [blob_of(p) for p in picks[:8]] == [0, 1, 2, 3, 0, 1, 2, 3]


def test_every_item_can_be_picked_even_among_duplicates():
    features = torch.ones(7, 2)
    assert sorted(select("typiclust", features=features, count=7).tolist()) == list(range(7))


def test_large_clusters_are_ranked_by_a_part_of_them_and_still_give_every_member(monkeypatch):
    monkeypatch.setattr(sys.modules["askwise.selection.typiclust"], "_LARGEST", 15)
    features = blobs()
    picks = select("typiclust", features=features, count=len(features), clusters=4).tolist()
    assert sorted(picks) == list(range(len(features)))
    assert [blob_of(p) for p in picks[:4]] == [0, 1, 2, 3]


@pytest.mark.parametrize("option", ["neighbours", "clusters"])
def test_options_must_be_whole_numbers(option):
    with pytest.raises(InputError, match=f"{option} must be a whole number of at least 1"):
        select("typiclust", features=blobs(), count=1, **{option: 0})
