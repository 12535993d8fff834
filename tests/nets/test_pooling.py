import torch

from askwise.nets.parts import masked_mean


def test_the_mean_is_over_what_is_there():
    vectors = torch.tensor([[[2.0], [4.0], [100.0]]])
    assert masked_mean(vectors, torch.tensor([[True, True, False]])).tolist() == [[3.0]]


def test_nothing_is_zero():
    assert masked_mean(torch.ones(1, 3, 2), torch.zeros(1, 3, dtype=torch.bool)).tolist() == [[0.0, 0.0]]
