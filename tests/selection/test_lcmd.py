"""LCMD: against the printed algorithm, and what it is for."""

import pytest
import torch

from askwise.selection import select


def by_hand(points, labelled, count):
    """The printed algorithm, with plain loops."""
    centres, picks = [row.tolist() for row in labelled], []

    def apart(a, b):
        return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))

    rows = [row.tolist() for row in points]
    while len(picks) < count:
        rest = [n for n in range(len(rows)) if n not in picks]
        if not centres:
            pick = max(rest, key=lambda n: apart(rows[n], [0] * len(rows[n])))
        else:
            clusters = {}
            for n in rest:
                own = min(range(len(centres)), key=lambda c: apart(rows[n], centres[c]))
                clusters.setdefault(own, []).append((apart(rows[n], centres[own]), n))
            largest = max(clusters.values(), key=lambda members: sum(size for size, _ in members))
            pick = max(largest)[1]
        picks.append(pick)
        centres.append(rows[pick])
    return picks


@pytest.mark.parametrize("known", [0, 1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_picks_equal_the_printed_algorithm(known, seed):
    rng = torch.Generator().manual_seed(seed)
    points = torch.randn(12, 3, dtype=torch.float64, generator=rng)
    labelled = torch.randn(known, 3, dtype=torch.float64, generator=rng)
    found = select("lcmd", features=points, count=6, seed=seed, labelled=labelled).tolist()
    assert found == by_hand(points, labelled, 6)


def test_it_asks_in_the_widest_cluster_before_the_farthest_corner():
    """One outlier is farther than anything; many items at a middle distance weigh more together."""
    rng = torch.Generator().manual_seed(0)
    wide = torch.tensor([10.0, 0.0]) + torch.randn(50, 2, generator=rng)
    points = torch.cat([wide, torch.tensor([[-14.0, 0.0]])])
    labelled = torch.tensor([[0.0, 0.0], [-1.0, 0.0]])
    assert select("lcmd", features=points, count=1, labelled=labelled).item() < 50
    assert select("k_center", features=points, count=1, labelled=labelled).item() == 50  # the control


def test_every_duplicate_of_a_label_is_left_to_the_end():
    points = torch.eye(4).repeat(2, 1)
    picks = select("lcmd", features=points, count=8, labelled=points[:1]).tolist()
    assert {picks[-1] % 4, picks[-2] % 4} != {1, 2}
    assert set(picks[:3]) <= {1, 2, 3, 5, 6, 7}
