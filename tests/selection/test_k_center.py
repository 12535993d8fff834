import itertools

import pytest
import torch

from askwise.errors import InputError
from askwise.selection import select


def points(n, d=3, seed=0):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed))


def farthest(features, centres):
    """The position farthest from its nearest centre, by loops."""
    gaps = [min(torch.dist(x, c).item() for c in centres) for x in features]
    return max(range(len(gaps)), key=gaps.__getitem__)


def test_each_pick_is_the_farthest_from_those_before():
    features = points(60)
    picks = select("k_center", features=features, count=6).tolist()
    for known in range(1, 6):
        assert picks[known] == farthest(features, features[picks[:known]])


def test_picks_keep_away_from_what_is_labelled():
    features, labelled = points(60), points(5, seed=1)
    picks = select("k_center", features=features, labelled=labelled, count=4).tolist()
    assert picks[0] == farthest(features, labelled)
    assert picks[1] == farthest(features, torch.cat([labelled, features[picks[:1]]]))
    assert picks != select("k_center", features=features, count=4).tolist()  # the argument is not dropped


def test_the_radius_is_at_most_twice_the_best():
    features = points(12, d=2)
    picks = select("k_center", features=features, count=3)

    def radius(centres):
        return torch.cdist(features, features[list(centres)]).amin(1).max().item()

    best = min(radius(some) for some in itertools.combinations(range(12), 3))
    assert radius(picks.tolist()) <= 2 * best


def test_duplicates_are_picked_last_and_never_twice():
    features = points(4).repeat(3, 1)
    picks = select("k_center", features=features, count=12).tolist()
    assert sorted(picks) == list(range(12))
    assert {p % 4 for p in picks[:4]} == {0, 1, 2, 3}


def test_no_labelled_features_is_the_same_as_an_empty_table():
    features = points(20)
    empty = select("k_center", features=features, labelled=torch.empty(0, 3), count=4)
    assert torch.equal(empty, select("k_center", features=features, count=4))


def test_labelled_features_of_another_width_are_refused():
    with pytest.raises(InputError, match="labelled must have 3 columns"):
        select("k_center", features=points(5), labelled=torch.ones(2, 4), count=1)
