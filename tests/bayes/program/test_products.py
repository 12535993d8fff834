"""Products by either library are the product."""

import pytest
import torch

from askwise.bayes.program import products


@pytest.fixture(params=[True, False], ids=["oneDNN", "MKL"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each library in turn, whatever suits this processor."""
    if request.param and not torch.backends.mkldnn.is_available():
        pytest.skip("torch is built without oneDNN here")
    monkeypatch.setattr(products, "_faster", lambda: request.param)


def matrices(rows: int, inner: int, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    return torch.randn(rows, inner, generator=rng), torch.randn(inner, columns, generator=rng)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "shape", [(3, 0, 5), (0, 4, 2), (1, 1, 1), (7, 3, 5), (64, 968, 128), (1000, 128, 64)]
)
def test_product_is_the_matrix_product(shape: tuple[int, int, int]) -> None:
    left, right = matrices(*shape)
    with torch.no_grad():
        found = products.product(left, right)
    assert torch.allclose(found.double(), left.double() @ right.double(), atol=1e-5 * shape[1] ** 0.5)


@pytest.mark.usefixtures("library")
def test_add_product_adds_in_place() -> None:
    left, right = matrices(60, 90, 40)
    target = torch.ones(60, 40)
    with torch.no_grad():
        found = products.add_product(target, left, right)
    assert found.data_ptr() == target.data_ptr()
    assert torch.allclose(target, 1 + left @ right, atol=1e-4)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("shape", [(0, 3, 5), (4, 0, 5), (4, 3, 0)])
def test_empty_matrices_add_nothing(shape: tuple[int, int, int]) -> None:
    left, right = matrices(*shape)
    target = torch.ones(shape[0], shape[2])
    with torch.no_grad():
        products.add_product(target, left, right)  # a mask may drop no unit, or all of them
    assert torch.equal(target, torch.ones(shape[0], shape[2]))


@pytest.mark.usefixtures("library")
def test_product_takes_views_as_they_are() -> None:
    left, right = matrices(80, 66, 100)
    with torch.no_grad():
        found = products.product(left[::2, 1:41], right.t().contiguous().t()[1:41])
    assert torch.allclose(found, left[::2, 1:41] @ right[1:41], atol=1e-4)


@pytest.mark.usefixtures("library")
def test_product_keeps_precision_and_gradients() -> None:
    left, right = (part.double() for part in matrices(50, 40, 60))
    with torch.no_grad():
        assert torch.equal(products.product(left, right), left @ right)
    single = left.float().requires_grad_()
    products.product(single, right.float()).sum().backward()
    assert single.grad is not None


@pytest.mark.usefixtures("library")
def test_a_row_has_the_same_bits_whatever_stands_beside_it() -> None:
    left, right = matrices(1000, 128, 64)
    other = right.clone()
    other[:, 1:] = 0
    with torch.no_grad():
        assert torch.equal(products.product(left, right)[:, 0], products.product(left, other)[:, 0])
