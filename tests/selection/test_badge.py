import brute_force
import pytest
import torch

from askwise.selection import select


def gradients(log_probs, features):
    """Every gradient written out: (p - e) times h, flattened."""
    out = []
    for item, h in zip(brute_force.items(log_probs), features.tolist(), strict=True):
        p = brute_force.mean(item)
        error = [x - (c == p.index(max(p))) for c, x in enumerate(p)]
        out.append([e * x for e in error for x in h])
    return torch.tensor(out, dtype=torch.float64)


def problem(n=8, seed=0):
    features = torch.randn(n, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return brute_force.predictions(n, 3, 4, seed=seed), features


def test_the_first_pick_has_the_largest_gradient():
    log_probs, features = problem(40)
    expected = gradients(log_probs, features).norm(dim=1).argmax()
    assert select("badge", log_probs=log_probs, features=features, count=1).item() == expected


def test_the_second_pick_is_drawn_by_squared_distance_of_gradients():
    log_probs, features = problem()
    g = gradients(log_probs, features)
    first = int(g.norm(dim=1).argmax())
    chances = (g - g[first]).square().sum(1)
    found = torch.zeros(8, dtype=torch.float64)
    for seed in range(300):
        found[select("badge", log_probs=log_probs, features=features, count=2, seed=seed)[1]] += 1 / 300
    assert found.tolist() == pytest.approx((chances / chances.sum()).tolist(), abs=0.07)
    plain = (features - features[first]).square().sum(1)  # control: features alone have other chances
    assert found.tolist() != pytest.approx((plain / plain.sum()).tolist(), abs=0.07)


def test_the_third_pick_keeps_away_from_both():
    log_probs, features = problem()
    g = gradients(log_probs, features)
    expected, found = torch.zeros(8, dtype=torch.float64), torch.zeros(8, dtype=torch.float64)
    for seed in range(300):
        first, second, third = select("badge", log_probs=log_probs, features=features, count=3, seed=seed)
        gap = torch.minimum((g - g[first]).square().sum(1), (g - g[second]).square().sum(1))
        expected += gap / gap.sum() / 300
        found[third] += 1 / 300
    assert found.tolist() == pytest.approx(expected.tolist(), abs=0.07)


def test_duplicates_are_taken_only_when_nothing_else_is_left():
    log_probs, features = problem()
    log_probs, features = log_probs.repeat(3, 1, 1).float(), features.repeat(3, 1).float()
    for seed in range(20):
        picks = select("badge", log_probs=log_probs, features=features, count=24, seed=seed).tolist()
        assert sorted(picks) == list(range(24))
        assert len({p % 8 for p in picks[:8]}) == 8


def test_sure_predictions_have_no_gradient_and_still_give_picks():
    log_probs = brute_force.predictions(6, 1, 3, certain=1.0)
    picks = select("badge", log_probs=log_probs, features=torch.randn(6, 2), count=6)
    assert sorted(picks.tolist()) == list(range(6))


def test_multi_label_gradients_cover_all_tags():
    log_probs = brute_force.predictions(10, 2, 3, 2)
    features = torch.randn(10, 4, generator=torch.Generator().manual_seed(0))
    mean = log_probs.exp().mean(1)
    error = mean - (mean == mean.amax(-1, keepdim=True)).double()
    sizes = error.flatten(1).norm(dim=1) * features.norm(dim=1)
    assert select("badge", log_probs=log_probs, features=features, count=1).item() == sizes.argmax()


def test_wide_problems_fit_in_memory():
    """100 items x 1,000 classes x 4,000 features: written out, the gradients alone are 1.6 GB."""
    log_probs = brute_force.predictions(100, 1, 1000).float()
    features = torch.randn(100, 4000, generator=torch.Generator().manual_seed(0))
    assert len(set(select("badge", log_probs=log_probs, features=features, count=10).tolist())) == 10
