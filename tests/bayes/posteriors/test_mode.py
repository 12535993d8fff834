"""The mode is where nothing pulls any more, however awkward the features."""

import pytest
import torch
from torch import Tensor

from askwise.bayes.posteriors import last_layer
from askwise.bayes.posteriors.curvature import curvature
from askwise.bayes.posteriors.last_layer import LastLayer, spanned
from askwise.bayes.posteriors.mode import mode
from askwise.tasks import Task, classification, multilabel, regression


def model(task: Task, labels: Tensor, *, features: int = 5, uneven: float = 1.0) -> LastLayer:
    """Features whose scales reach from 1 to `uneven`, each item beside a constant."""
    rng = torch.Generator().manual_seed(0)
    phi = torch.randn(len(labels), features, generator=rng) * torch.logspace(
        0, torch.tensor(uneven).log10().item(), features
    )
    return LastLayer(task, torch.cat([phi, torch.ones(len(phi), 1)], 1), torch.zeros(len(phi), 0), labels)


def found_mode(seen: LastLayer, start: Tensor, precision: float) -> Tensor:
    """The mode, looked for in the principal axes."""
    turned, axes = spanned(seen)
    return mode(turned, start @ axes, precision) @ axes.T


def pull(seen: LastLayer, weights: Tensor, precision: float) -> Tensor:
    """The gradient at these weights, in float64."""
    weights = weights.clone().requires_grad_()
    every = slice(len(seen.features))
    loss = -seen.log_likelihood(seen.outputs(seen.features, weights, every), every)
    (loss + precision / 2 * weights.square().sum()).backward()
    return weights.grad


CASES = {
    "softmax": (classification(), torch.arange(60) % 3, 3),
    "softplus": (classification(link="softplus"), torch.arange(60) % 3, 3),
    "tags": (multilabel(), ((torch.arange(60)[:, None] + torch.arange(4)) % 3 == 0).float(), 4),
    "learned noise": (regression(), torch.linspace(-2, 2, 60).sin()[:, None], 2),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("uneven", [1.0, 30.0])
def test_nothing_pulls_at_the_mode(name: str, uneven: float) -> None:
    task, labels, outputs = CASES[name]
    seen = model(task, labels, uneven=uneven)
    start = torch.zeros(outputs, 6, dtype=torch.float64)
    found = found_mode(seen, start, 0.5)
    # A Newton step from here, in standard deviations of each weight.
    spread = (curvature("diag", seen, found).values + 0.5).rsqrt()
    assert (pull(seen, found, 0.5).abs() * spread).max() < 2e-3
    assert (pull(seen, start, 0.5).abs() * spread).max() > 1


def test_gaussian_regression_ends_at_the_exact_answer() -> None:
    y = torch.randn(40, 2, generator=torch.Generator().manual_seed(1))
    seen = model(regression(tau=3.0), y, uneven=1e4)
    phi = seen.features.double()
    gram = 3.0 * phi.T @ phi + 0.2 * torch.eye(6)
    exact = torch.linalg.solve(gram, 3.0 * phi.T @ y.double()).T
    found = found_mode(
        seen, torch.randn(2, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(2)), 0.2
    )
    spread = torch.linalg.inv(gram).diagonal().sqrt()
    assert ((found - exact).abs() / spread).max() < 1e-5


def test_the_mode_does_not_depend_on_how_many_items_fit_the_memory(monkeypatch) -> None:
    task, labels, outputs = CASES["softmax"]
    seen, start = model(task, labels), torch.zeros(outputs, 6, dtype=torch.float64)
    whole = found_mode(seen, start, 0.5)
    monkeypatch.setattr(last_layer, "_BUDGET", 8 * 9 * 7)  # seven items at a time
    torch.testing.assert_close(found_mode(seen, start, 0.5), whole, rtol=1e-5, atol=1e-5)


def test_separable_labels_have_a_mode_under_any_prior() -> None:
    seen = model(classification(), torch.arange(4) % 2)
    weak, strong = (found_mode(seen, torch.zeros(2, 6, dtype=torch.float64), p) for p in (1e-4, 10.0))
    assert weak.isfinite().all()
    assert weak.norm() > 5 * strong.norm()


def test_with_fewer_items_than_features_the_mode_is_the_one_among_all_of_them() -> None:
    y = torch.arange(8) % 3
    seen = model(classification(), y, features=40)
    start = torch.randn(3, 41, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    inside = found_mode(seen, start, 0.5)
    assert pull(seen, inside, 0.5).abs().max() < 1e-3
    torch.testing.assert_close(inside, mode(seen, start, 0.5, within=1e-6), rtol=0, atol=1e-3)
