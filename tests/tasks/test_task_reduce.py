"""Site scores to item scores."""

from itertools import pairwise

import torch

from askwise.tasks.task import reduction


def test_scores_of_items_stay_as_they_are() -> None:
    scores = torch.rand(5)
    assert all(
        torch.equal(reduction(kind, (kind,))(scores), scores) for kind in ("mean", "sum", "max", "top")
    )


def test_more_of_the_top_lies_between_the_largest_and_the_mean() -> None:
    scores = torch.rand(3, 8, 8)
    found = [reduction("top", ("top",), top=part)(scores) for part in (0.01, 0.1, 0.5, 1.0)]
    assert torch.equal(found[0], scores.flatten(1).amax(dim=1))
    assert all((more <= less).all() for less, more in pairwise(found))
    torch.testing.assert_close(found[-1], scores.mean(dim=(1, 2)))
