"""Scores and predictions are streamed, agree with the stored log-probabilities, and refuse bad input."""

import tracemalloc

import numpy as np
import pytest
import torch
from torch import nn

import askwise as aw
from askwise.acquire import ACQUISITIONS
from askwise.bayes.fitted import Fitted
from askwise.bayes.program import ready
from askwise.errors import InputError
from askwise.train import Training


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    rng = torch.Generator().manual_seed(0)
    x, y = torch.randn(60, 6, generator=rng), torch.arange(60) % 4
    network = aw.nets.mlp(6, 4, hidden=(16,), dropout=0.3)
    return aw.fit(network, (x, y), posterior=aw.bbb(last=1), training=Training(epochs=5), start="scratch")


@pytest.fixture(scope="module")
def inputs() -> torch.Tensor:
    return torch.randn(300, 6, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("name", [name for name, one in ACQUISITIONS.items() if one.needs == "log_probs"])
def test_streamed_scores_equal_the_scores_of_stored_log_probs(fitted: Fitted, inputs, name: str) -> None:
    stored = aw.score(name, aw.log_probs(fitted, inputs, draws=12, seed=3))
    streamed = aw.score_pool(fitted, inputs, name, draws=12, seed=3)
    torch.testing.assert_close(streamed, stored, rtol=1e-4, atol=2e-6)


def test_epig_takes_target_inputs_under_the_same_draws(fitted: Fitted, inputs) -> None:
    targets = inputs[:20] + 1
    stored = aw.score(
        "epig",
        aw.log_probs(fitted, inputs, draws=12, seed=3),
        targets=aw.log_probs(fitted, targets, draws=12, seed=3),
    )
    streamed = aw.score_pool(fitted, inputs, "epig", draws=12, seed=3, targets=targets)
    torch.testing.assert_close(streamed, stored, rtol=1e-4, atol=2e-6)
    with pytest.raises(InputError, match="needs targets"):
        aw.score_pool(fitted, inputs, "epig")
    with pytest.raises(InputError, match="takes no targets"):
        aw.score_pool(fitted, inputs, "bald", targets=targets)


def test_options_reach_the_acquisition(fitted: Fitted, inputs) -> None:
    votes = aw.score_pool(fitted, inputs, "variation_ratios", draws=12, votes=True)
    assert not torch.equal(votes, aw.score_pool(fitted, inputs, "variation_ratios", draws=12))
    assert set((votes * 12).round(decimals=3).tolist()) <= {float(k) for k in range(13)}
    with pytest.raises(InputError, match="vote"):
        aw.score_pool(fitted, inputs, "variation_ratios", vote=True)


def test_random_needs_no_prediction_and_follows_the_ids(fitted: Fitted, inputs, monkeypatch) -> None:
    monkeypatch.setattr(ready, "build", None)  # a prediction would call it
    ids = [f"item-{k}" for k in range(300)]
    scores = aw.score_pool(fitted, inputs, "random", seed=5, ids=ids)
    backwards = aw.score_pool(fitted, inputs.flip(0), "random", seed=5, ids=ids[::-1])
    assert torch.equal(scores, backwards.flip(0))


def test_draws_that_exceed_the_budget_are_made_in_chunks_with_equal_results(
    fitted, inputs, monkeypatch
) -> None:
    whole = aw.score_pool(fitted, inputs, "bald", draws=30)
    monkeypatch.setattr(ready, "BUDGET", 4_000)  # four draws of 64 weights and their copies
    assert len(ready.chunked({"weight": torch.zeros(1, 4, 16)}, 30)) > 3
    torch.testing.assert_close(aw.score_pool(fitted, inputs, "bald", draws=30), whole, rtol=1e-4, atol=2e-6)


def test_scoring_memory_does_not_grow_with_the_pool(fitted: Fitted) -> None:
    peaks = []
    for count in (2_000, 20_000):
        x = np.zeros((count, 6), dtype=np.float32)
        aw.score_pool(fitted, x[:200], "bald", draws=20)
        tracemalloc.start()  # numpy's memory; torch's is bounded by the batch
        aw.score_pool(fitted, x, "bald", draws=20)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 200_000


def test_a_memory_mapped_array_is_read_batch_by_batch(fitted: Fitted, inputs, tmp_path) -> None:
    np.save(tmp_path / "pool.npy", inputs.numpy())
    mapped = np.load(tmp_path / "pool.npy", mmap_mode="r")
    assert torch.equal(aw.score_pool(fitted, mapped, "bald"), aw.score_pool(fitted, inputs, "bald"))


def test_features_are_what_the_last_layer_sees(fitted: Fitted, inputs) -> None:
    features = aw.features(fitted, inputs)
    hidden = fitted.network[:-1](inputs).detach()
    torch.testing.assert_close(features, hidden, rtol=1e-5, atol=1e-6)
    assert torch.equal(features[5:9], aw.features(fitted, inputs[5:9]))


def test_nan_in_an_item_names_its_position(fitted: Fitted, inputs) -> None:
    broken = inputs.clone()
    broken[211, 3] = float("nan")
    with pytest.raises(InputError, match="item at position 211"):
        aw.score_pool(fitted, broken, "bald")


def test_a_network_of_the_wrong_kind_is_refused() -> None:
    network = nn.Conv2d(1, 2, 1)
    with pytest.raises(InputError, match=r"classification needs a network that gives logits \[N, C\]"):
        aw.fit(nn.Sequential(network), (torch.zeros(4, 1, 3, 3), torch.zeros(4, dtype=torch.long)))
