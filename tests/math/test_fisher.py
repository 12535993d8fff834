"""Random vectors have the Fisher information for their expected square, with little variance."""

import pytest
import torch
from torch import Tensor

from askwise.math.fisher import probe
from askwise.tasks import classification, multilabel, regression


def parts(task, outputs: Tensor, count: int) -> tuple[Tensor, Tensor]:
    d, u = task.curvature(outputs[None])
    return d.expand(count, -1), u.expand(count, -1)


@pytest.mark.parametrize(
    "task",
    [classification(), classification(link="softplus"), multilabel(), regression(), regression(tau=3.0)],
    ids=lambda task: f"{task.name} {task.options}",
)
def test_their_expected_square_is_the_fisher_information(task) -> None:
    rng = torch.Generator().manual_seed(0)
    outputs = 2 * torch.randn(4, generator=rng, dtype=torch.float64)
    d, u = parts(task, outputs, 40_000)
    v = probe(d, u, rng)
    exact = torch.diag(d[0]) - torch.outer(u[0], u[0])
    torch.testing.assert_close(v.T @ v / len(v), exact, rtol=0, atol=0.02 * float(exact.diagonal().max()))


def test_for_one_output_it_is_exact() -> None:
    d = torch.rand(5, 1, dtype=torch.float64)
    v = probe(d, torch.zeros_like(d), torch.Generator().manual_seed(0))
    torch.testing.assert_close(v.square(), d)


def test_every_site_is_by_itself() -> None:
    rng = torch.Generator().manual_seed(0)
    p = torch.randn(1, 3, 2, 1, generator=rng, dtype=torch.float64).softmax(dim=1).expand(40_000, -1, -1, -1)
    v = probe(p, p, rng).flatten(1)
    found = (v.T @ v / len(v)).view(3, 2, 3, 2)
    for site in range(2):
        own = p[0, :, site, 0]
        torch.testing.assert_close(
            found[:, site, :, site], torch.diag(own) - torch.outer(own, own), rtol=0, atol=0.01
        )
    assert found[:, 0, :, 1].abs().max() < 0.01


def test_where_classes_are_certain_there_is_nothing_and_no_nan() -> None:
    d, u = parts(classification(), torch.tensor([200.0, 0.0, 0.0]), 3)
    v = probe(d, u, torch.Generator().manual_seed(0))
    assert torch.isfinite(v).all()
    assert v.abs().max() < 1e-3


def test_signs_vary_less_than_labels_drawn_from_the_model_where_it_is_sure() -> None:
    rng = torch.Generator().manual_seed(0)
    d, u = parts(classification(), torch.tensor([5.0, 0.0, 0.0], dtype=torch.float64), 40_000)
    drawn = torch.multinomial(d, 1, generator=rng).flatten()
    by_labels = d - torch.nn.functional.one_hot(drawn, 3)
    slope = torch.tensor([1.0, -0.5, 0.3], dtype=torch.float64)  # of the outputs by some weight
    signs, labels = ((v @ slope).square() for v in (probe(d, u, rng), by_labels))
    torch.testing.assert_close(signs.mean(), labels.mean(), rtol=0.1, atol=0)
    assert signs.std() < 0.2 * labels.std()
