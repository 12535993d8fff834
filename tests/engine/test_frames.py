"""Results as bytes and back."""

import pytest
import torch

from askwise.engine import ShardResult
from askwise.engine.messages import pack, unpack

KINDS = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_tensor_of_any_kind_comes_back_to_the_bit(kind):
    tensor = torch.arange(-6, 6).reshape(3, 4).to(kind)
    (again,) = unpack(pack(ShardResult((tensor,)))).tensors
    assert again.dtype == kind
    assert torch.equal(again, tensor)


def test_tensors_keep_their_order_beyond_ten():
    tensors = tuple(torch.tensor([at]) for at in range(12))
    assert [one.item() for one in unpack(pack(ShardResult(tensors))).tensors] == list(range(12))


def test_views_empty_tensors_and_none_at_all_come_back():
    whole = torch.arange(12.0).reshape(3, 4)
    tensors = (whole.T, whole[:, 1], whole[:0], torch.tensor(2.5))
    for one, other in zip(unpack(pack(ShardResult(tensors))).tensors, tensors, strict=True):
        assert one.shape == other.shape
        assert torch.equal(one, other)
    assert unpack(pack(ShardResult())) == ShardResult()


def test_equal_results_have_equal_bytes():
    assert pack(ShardResult((torch.ones(3),), {"a": 1})) == pack(ShardResult((torch.ones(3),), {"a": 1}))
    assert pack(ShardResult((torch.ones(3),))) != pack(ShardResult((-torch.ones(3),)))
