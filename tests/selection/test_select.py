import brute_force
import pytest
import torch

from askwise.errors import InputError
from askwise.selection import select

SCORES = torch.tensor([0.1, 0.4, 0.2])
LOG_PROBS = brute_force.predictions(3, 4, 2)
FEATURES = torch.eye(3)


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("topk", {"scores": SCORES}, "unknown selection 'topk'; did you mean 'top_k'[?]"),
        ("top_k", {}, "selection 'top_k' needs scores; scores is missing"),
        ("batchbald", {"scores": SCORES}, "needs log_probs; log_probs is missing"),
        ("badge", {"log_probs": LOG_PROBS}, "needs log_probs and features; features is missing"),
        ("top_k", {"scores": SCORES, "features": FEATURES}, "takes scores, not features"),
        ("top_k", {"scores": SCORES, "beta": 2}, "takes no options, and was given 'beta'"),
        ("power", {"scores": SCORES, "betta": 2}, "did you mean 'beta'"),
        ("top_k", {"scores": SCORES, "ids": ["a", "b"]}, "differ in length: 3 scores, 2 ids"),
        ("badge", {"log_probs": LOG_PROBS, "features": torch.eye(4)}, "3 log_probs, 4 features"),
        ("top_k", {"scores": SCORES[None]}, r"one axis \[N\], not \[1, 3\]; reduce the sites first"),
        ("top_k", {"scores": torch.tensor([1, 2])}, "floating-point"),
        ("top_k", {"scores": torch.tensor([0.0, torch.nan])}, "must be finite, and position 1 is nan"),
        ("power", {"scores": torch.tensor([torch.inf, 1.0])}, "must be finite, and position 0 is inf"),
        ("batchbald", {"log_probs": LOG_PROBS.exp()}, "holds probabilities"),
        ("batchbald", {"log_probs": brute_force.predictions(3, 4, 2, 2)}, "it knows no sites"),
        ("k_center", {"features": torch.tensor([[torch.nan]])}, "features must be finite"),
    ],
)
def test_bad_input_is_refused_in_one_line(name, inputs, message):
    with pytest.raises(InputError, match=message) as refused:
        select(name, count=1, **inputs)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (4, "count must be at most the number of items, 3, not 4"),
        (0, "count must be a whole number of at least 1, not 0"),
        (-1, "at least 1"),
        (True, "at least 1"),
    ],
)
def test_impossible_counts_are_refused(count, message):
    with pytest.raises(InputError, match=message):
        select("top_k", scores=SCORES, count=count)


def test_an_empty_pool_is_refused():
    with pytest.raises(InputError, match="at most the number of items, 0"):
        select("top_k", scores=torch.empty(0), count=1)


def test_without_ids_the_positions_are_the_ids():
    tied = torch.ones(20)
    assert torch.equal(
        select("top_k", scores=tied, count=5, seed=2),
        select("top_k", scores=tied, count=5, seed=2, ids=range(20)),
    )
