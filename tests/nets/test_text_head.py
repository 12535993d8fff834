import pytest
import torch

from askwise.errors import InputError
from askwise.nets import text_head


def test_it_is_dense_relu_dropout_dense():
    network = text_head(features=6, classes=3, hidden=5, dropout=0.2)
    assert [stage for stage, _ in network.named_children()] == ["dense1", "relu1", "dropout1", "dense2"]
    assert network.dropout1.p == 0.2
    assert network(torch.rand(4, 6)).shape == (4, 3)
    assert sum(p.numel() for p in network.parameters()) == (6 + 1) * 5 + (5 + 1) * 3


@pytest.mark.parametrize("option", ["features", "classes", "hidden"])
def test_nothing_is_refused(option):
    with pytest.raises(InputError, match=f"{option} must be a whole number of at least 1, not 0"):
        text_head(**{option: 0})
