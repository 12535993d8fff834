import brute_force
import pytest
import torch

from askwise.errors import InputError
from askwise.math import checks
from askwise.math.checks import check_features, check_log_probs, check_moments


def good(*shape):
    return brute_force.predictions(*(shape or (4, 3, 5)), certain=0.3)


@pytest.mark.parametrize("shape", [(4, 3, 5), (4, 1, 5), (0, 3, 5), (2, 3, 4, 4, 2), (3, 2, 1)])
def test_normalised_log_probs_pass_unchanged(shape):
    log_probs = good(*shape)
    assert check_log_probs(log_probs) is log_probs


def test_float32_softmax_of_large_logits_passes():
    check_log_probs(
        (100 * torch.randn(50, 20, 30, generator=torch.Generator().manual_seed(0))).log_softmax(-1)
    )


def test_half_precision_is_raised_to_float32():
    assert check_log_probs(good().half()).dtype == torch.float32
    assert check_features(torch.ones(2, 3).bfloat16()).dtype == torch.float32


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: x.tolist(), "must be a torch tensor .* not list"),
        (lambda x: x.numpy(), "not ndarray"),
        (lambda x: x.long(), "floating point, not int64"),
        (lambda x: x[:, 0], r"at least 3 axes .* not \[4, 5\]; one draw is T = 1"),
        (lambda x: x[:, :0], "no draws"),
        (lambda x: x[..., :0], "empty axis"),
        (lambda x: x.exp(), r"holds probabilities; pass their logarithm: log_probs.log\(\)"),
        (lambda x: x.exp().float(), "holds probabilities"),
        (lambda x: torch.eye(3)[None], "holds probabilities"),
        (lambda x: x + 0.01, "not normalised"),
        (lambda x: 3 * torch.randn(4, 3, 5), "not normalised"),
        (lambda x: torch.full((2, 2, 2), -torch.inf), "not normalised"),
        (lambda x: x.masked_fill(x == x.max(), torch.nan), "contains NaN"),
        (lambda x: x.masked_fill(x == x.max(), torch.inf), r"contains \+inf"),
    ],
)
def test_what_is_not_log_probs_is_refused_in_one_line(make, message):
    with pytest.raises(InputError, match=message) as refused:
        check_log_probs(make(good()))
    assert "\n" not in str(refused.value)


def test_a_bad_item_is_found_in_every_chunk(monkeypatch):
    monkeypatch.setattr(checks, "_CELLS", 30)
    log_probs = good(9, 3, 5)
    check_log_probs(log_probs)
    for position in range(9):
        bad = log_probs.clone()
        bad[position, 1, 2] = torch.nan
        with pytest.raises(InputError, match="NaN"):
            check_log_probs(bad)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([[1.0]], "not list"),
        (torch.ones(2, 3, dtype=torch.int64), "int64"),
        (torch.ones(3), "two axes"),
        (torch.ones(3, 2, 2), "two axes"),
        (torch.ones(3, 0), "two axes"),
        (torch.tensor([[1.0, torch.nan]]), "finite"),
        (torch.tensor([[1.0, torch.inf]]), "finite"),
    ],
)
def test_what_is_not_features_is_refused(features, message):
    with pytest.raises(InputError, match=message):
        check_features(features)


def test_features_of_another_width_are_refused():
    assert check_features(torch.ones(2, 3), width=3).shape == (2, 3)
    with pytest.raises(InputError, match="labelled must have 4 columns like the pool's features, not 3"):
        check_features(torch.ones(2, 3), name="labelled", width=4)


def test_finite_moments_pass_unchanged():
    moments = torch.zeros(3, 2, 1, 2)
    assert check_moments(moments) is moments
    assert len(check_moments(moments[:0])) == 0
    assert check_moments(moments.half()).dtype == torch.float32


@pytest.mark.parametrize(
    ("moments", "message"),
    [
        ([[1.0]], "not list"),
        (torch.zeros(3, 2, 1, 2).long(), "int64"),
        (torch.zeros(3, 2, 2), r"must be \[N, T, D, 2\], .* not \[3, 2, 2\]"),
        (torch.zeros(3, 2, 1, 3), r"not \[3, 2, 1, 3\]"),
        (torch.zeros(3, 0, 1, 2), r"not \[3, 0, 1, 2\]"),
        (torch.full((3, 2, 1, 2), torch.inf), "finite"),
    ],
)
def test_what_is_no_moments_is_refused_in_one_line(moments, message):
    with pytest.raises(InputError, match=message) as refused:
        check_moments(moments)
    assert "\n" not in str(refused.value)
