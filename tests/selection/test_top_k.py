import torch

from askwise.selection import select


def test_top_k_takes_the_highest():
    scores = torch.randn(500, generator=torch.Generator().manual_seed(0))
    found = select("top_k", scores=scores, count=20)
    assert found.tolist() == scores.argsort(descending=True)[:20].tolist()


def test_top_k_can_take_everything():
    assert sorted(select("top_k", scores=torch.ones(9), count=9).tolist()) == list(range(9))


def test_positions_are_those_of_the_scores_given():
    """Baal used ranks within a sub-pool as positions in the pool, and labelled other items."""
    rng = torch.Generator().manual_seed(0)
    scores = torch.rand(1000, generator=rng)
    sub = torch.randperm(1000, generator=rng)[:50]
    ids = [f"item-{i}" for i in sub.tolist()]
    picks = select("top_k", scores=scores[sub], count=5, ids=ids)
    expected = sorted(sub.tolist(), key=lambda i: -scores[i])[:5]
    assert [ids[i] for i in picks] == [f"item-{i}" for i in expected]
    assert picks.tolist() != expected  # control: read as positions in the pool they name other items
