import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.math.links import log_softmax, log_softplus


def plain_log_softplus(row):
    """In Python floats; log1p(exp(x)) is exact enough between -700 and 30."""
    parts = [math.log1p(math.exp(x)) if x < 30 else x + math.exp(-x) for x in row]
    return [math.log(part) - math.log(sum(parts)) for part in parts]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-600, 600), min_size=1, max_size=6))
def test_log_softplus_equals_plain_python(row):
    found = log_softplus(torch.tensor([row], dtype=torch.float64))
    assert found[0].tolist() == pytest.approx(plain_log_softplus(row), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("x", [-21.0, -20.5, -20.0001, -19.9999, -19.0])
def test_log_softplus_is_exact_on_both_sides_of_its_switch(x):
    found = log_softplus(torch.tensor([[x, 1.0]], dtype=torch.float64))
    assert found[0].tolist() == pytest.approx(plain_log_softplus([x, 1.0]), rel=1e-14)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-600, 600), min_size=1, max_size=6))
def test_log_softmax_equals_torch(row):
    logits = torch.tensor([row], dtype=torch.float64)
    assert torch.allclose(log_softmax(logits), torch.log_softmax(logits, -1))


@pytest.mark.parametrize("link", [log_softmax, log_softplus])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_links_are_normalised_and_finite_for_large_logits(link, dtype):
    logits = torch.tensor([[1e4, -1e4, 3.0], [-1e4, -1e4, -1e4], [1e4, 1e4 - 1, 0.0]], dtype=dtype)
    found = link(logits)
    assert found.isfinite().all()
    assert torch.allclose(found.logsumexp(-1), torch.zeros(3, dtype=dtype), atol=1e-6)
    assert torch.nn.functional.softplus(logits).log().isinf().any()  # control: the plain logarithm


def test_log_softmax_keeps_digits_of_large_logits():
    logits = torch.tensor([[40000.0, 40000.0, 40000.0]])
    assert log_softmax(logits)[0].tolist() == pytest.approx([-math.log(3)] * 3, rel=1e-6)
    rough = logits - logits.logsumexp(-1, keepdim=True)  # control: adds the maximum back first
    assert rough[0, 0].item() != pytest.approx(-math.log(3), rel=1e-4)


@pytest.mark.parametrize("link", [log_softmax, log_softplus])
def test_links_keep_the_memory_layout(link):
    logits = torch.randn(4, 3, 5, generator=torch.Generator().manual_seed(0)).permute(2, 0, 1)
    assert link(logits).stride() == logits.stride()
    assert torch.log_softmax(logits, -1).stride() != logits.stride()  # control


@pytest.mark.parametrize("link", [log_softmax, log_softplus])
def test_links_have_finite_gradients_far_out(link):
    logits = torch.tensor([[-300.0, 300.0, 0.0]], requires_grad=True)
    link(logits)[0, 2].backward()
    assert logits.grad.isfinite().all()


def test_log_softplus_gradients_are_right_on_both_sides_of_its_switch():
    logits = torch.tensor([[-25.0, -20.0, -15.0, 2.0]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(log_softplus, (logits,))


@pytest.mark.parametrize("link", [log_softmax, log_softplus])
def test_links_take_a_single_row(link):
    row = torch.tensor([1.0, 2.0, -1.0])
    assert torch.equal(link(row), link(row[None])[0])
