import pytest
import torch

from askwise.math import distance
from askwise.math.distance import mean_to_neighbours, nearest, squared, squared_to


def points(*shape, seed=0):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def plain(a, b):
    return [[sum((x - y) ** 2 for x, y in zip(p, q, strict=True)) for q in b.tolist()] for p in a.tolist()]


@pytest.fixture(params=[1 << 22, 16], ids=["one chunk", "many chunks"])
def _chunked(request, monkeypatch):
    monkeypatch.setattr(distance, "_CELLS", request.param)


@pytest.mark.usefixtures("_chunked")
def test_distances_equal_loops():
    a, b = points(9, 3), points(7, 3, seed=1)
    expected = torch.tensor(plain(a, b), dtype=torch.float64)
    assert torch.allclose(squared(a, b), expected)
    assert torch.allclose(squared_to(a, b[2]), expected[:, 2])
    order = torch.tensor([4, 0, 8, 3])
    assert torch.allclose(nearest(a, b, order=order), expected.amin(1)[order])


@pytest.mark.usefixtures("_chunked")
def test_mean_to_neighbours_equals_loops_and_leaves_the_point_itself_out():
    a = points(9, 3)
    expected = [sum(sorted(d**0.5 for d in row)[1:5]) / 4 for row in plain(a, a)]
    assert mean_to_neighbours(a, count=4).tolist() == pytest.approx(expected)


def test_duplicates_have_no_distance_even_in_float32():
    a = (points(50, 20) + 3).float()
    assert (squared(a, a).diagonal() == 0).all()
    assert (squared(a, a.flip(0)) >= 0).all()
    size = a.square().sum(1)
    raw = torch.addmm(size[:, None] + size, a, a.T, alpha=-2)
    assert (raw.diagonal() != 0).any()  # control: the product form itself leaves rounding


def test_equal_rows_get_equal_bits():
    a = points(1000, 37).float()
    a[[3, 500, 999]] = a[0].clone()
    found = squared_to(a, a[7])
    assert len({found[i].item() for i in (0, 3, 500, 999)}) == 1


def test_neighbours_are_as_many_as_there_are():
    assert mean_to_neighbours(points(1, 3), count=5).tolist() == [0.0]
    pair = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    assert mean_to_neighbours(pair, count=5).tolist() == pytest.approx([5.0, 5.0])
