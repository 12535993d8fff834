import pytest
import torch

from askwise.acquire import random, score
from askwise.errors import InputError


def test_a_score_belongs_to_the_seed_and_the_id_alone():
    ids = [f"item-{i}" for i in range(50)]
    scores = dict(zip(ids, random(ids, seed=3).tolist(), strict=True))
    turned = ids[::-1]
    assert random(turned, seed=3).tolist() == [scores[i] for i in turned]
    assert random(ids[7:9], seed=3).tolist() == [scores[i] for i in ids[7:9]]
    assert random(ids, seed=4).tolist() != list(scores.values())


def test_scores_are_even_between_zero_and_one():
    scores = random(range(20_000), seed=0)
    assert 0 <= scores.min() < 0.001
    assert 0.999 < scores.max() < 1
    assert scores.mean().item() == pytest.approx(0.5, abs=0.01)
    assert len(scores.unique()) == 20_000


def test_random_needs_ids_or_a_number_of_items_and_no_prediction():
    assert torch.equal(score("random", ids=range(4), seed=1), score("random", torch.zeros(4, 2, 1), seed=1))
    with pytest.raises(InputError, match="needs ids, or log_probs"):
        score("random")
    with pytest.raises(InputError, match="3 ids for 4 items"):
        score("random", torch.zeros(4, 2, 1), ids=["a", "b", "c"])
