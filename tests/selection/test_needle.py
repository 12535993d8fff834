"""The needle: the item with the largest variance left, as brute force finds it."""

import torch

from askwise.seeding import generator
from askwise.selection import select


def points(n=50, d=4, seed=0):
    return torch.randn(n, d, generator=generator(seed, "needle"), dtype=torch.float64)


def rows(features, others):
    centre = features.mean(dim=0)
    return [torch.nn.functional.normalize(x - centre, dim=1) for x in (features, others)]


def test_each_pick_has_the_largest_variance_of_a_gaussian_process_given_all_before():
    features, labelled = points(), points(3, seed=1)
    picks = select("needle", features=features, labelled=labelled, count=8).tolist()
    x, first = rows(features, labelled)
    scale = 2 * 0.5 * 2 * x.var(dim=0, correction=0).sum()

    def kernel(one, other):
        return torch.exp(-torch.cdist(one, other).square() / scale)

    for number, pick in enumerate(picks):
        known = torch.cat([first, x[picks[:number]]])
        inside = kernel(known, known) + 0.01 * torch.eye(len(known))
        across = kernel(x, known)
        left = 1 - (across @ torch.linalg.inv(inside) * across).sum(dim=1)
        left[picks[:number]] = -1
        assert pick == int(left.argmax())


def test_units_and_the_origin_of_the_features_do_not_matter():
    features = points()
    moved = 7 * features - 30
    assert torch.equal(*(select("needle", features=x, count=10) for x in (features, moved)))


def test_a_class_with_a_feature_of_its_own_is_found_sooner_than_by_k_center():
    """Three items of 403 use a feature that the others leave alone, and lie among noisy ones."""

    def places(name, seed):
        rng = generator(seed, "haystack")
        cloud = torch.randn(403, 12, generator=rng, dtype=torch.float64)
        cloud[:, 11] = 0
        cloud[:3, 11] = 1.5
        picks = select(name, features=cloud, labelled=cloud[-10:], count=60, seed=seed).tolist()
        return min((place for place, pick in enumerate(picks) if pick < 3), default=60)

    ours, plain = ([places(name, seed) for seed in range(6)] for name in ("needle", "k_center"))
    assert max(ours) < 20
    assert sum(ours) < 0.5 * sum(plain)
