"""The needle: strange items are found among the first, where plain distances do not show them."""

import torch

from askwise.seeding import generator
from askwise.selection import select


def haystack(seed=0):
    """A cloud with four long axes and eight short ones; three items differ along a short one alone."""
    rng = generator(seed, "haystack")
    scale = torch.tensor([10.0] * 4 + [0.05] * 8)
    points = torch.randn(403, 12, generator=rng) * scale
    points[:3, 7] += 2
    return points


def first_find(name, seed):
    features = haystack(seed)
    picks = select(name, features=features, labelled=features[-10:], count=100, seed=seed).tolist()
    return min((place for place, pick in enumerate(picks) if pick < 3), default=100)


def test_what_differs_along_a_short_axis_is_found_among_the_first_and_by_k_center_late():
    ours, plain = ([first_find(name, seed) for seed in range(8)] for name in ("needle", "k_center"))
    assert max(ours) < 10
    assert sum(ours) < 0.3 * sum(plain)


def test_the_length_of_an_axis_does_not_matter():
    features = haystack()
    stretched = features * torch.tensor([0.5, 3.0, 2.0, 1.0] * 3)
    assert torch.equal(*(select("needle", features=x, count=5) for x in (features, stretched)))


def test_equal_points_are_picked_in_the_order_of_their_ids():
    same = torch.ones(6, 2)
    assert sorted(select("needle", features=same, count=6).tolist()) == list(range(6))
