"""The curvature is the Fisher information that whole Jacobians give, without any."""

import pytest
import torch
from torch import Tensor

from askwise.bayes.posteriors import curvature as curvatures
from askwise.bayes.posteriors import last_layer
from askwise.bayes.posteriors.curvature import Curvature, bends, curvature, output_gain, refuse_size, rotated
from askwise.bayes.posteriors.last_layer import LastLayer, spanned
from askwise.errors import InputError
from askwise.tasks import Task, classification, multilabel, regression

TASKS = {
    "softmax": classification(),
    "softplus": classification(link="softplus"),
    "tags": multilabel(),
    "fixed noise": regression(tau=2.0),
}


def model(task: Task, *, count: int = 9, outputs: int = 3, features: int = 4) -> tuple[LastLayer, Tensor]:
    rng = torch.Generator().manual_seed(0)
    phi = torch.randn(count, features, generator=rng)
    kind = {"classification": torch.arange(count) % outputs}
    labels = kind.get(task.name, (torch.rand(count, outputs, generator=rng) > 0.5).float())
    weights = torch.randn(outputs, features, generator=rng, dtype=torch.float64)
    return LastLayer(task, phi, torch.zeros(count, 0), labels), weights


def by_jacobians(seen: LastLayer, weights: Tensor) -> Tensor:
    """Sum over items of J^T F J, with J [C, C D] by autograd."""
    total = torch.zeros(weights.numel(), weights.numel(), dtype=torch.float64)
    for phi in seen.features.double():
        jacobian = torch.autograd.functional.jacobian(lambda w, phi=phi: w @ phi, weights).flatten(1)
        d, u = seen.task.curvature((weights @ phi)[None])
        total += jacobian.T @ (torch.diag(d[0]) - torch.outer(u[0], u[0])) @ jacobian
    return total


def dense(found: Curvature) -> Tensor:
    """The whole matrix."""
    count = found.values.numel()
    units = torch.eye(count, dtype=torch.float64).view(count, *found.values.shape)
    basis = torch.stack([rotated(found.basis, unit).flatten() for unit in units], dim=1)
    return basis @ torch.diag(found.values.flatten()) @ basis.T


@pytest.mark.parametrize("name", TASKS)
def test_full_is_the_sum_over_items_of_jacobian_products(name: str) -> None:
    seen, weights = model(TASKS[name])
    torch.testing.assert_close(dense(curvature("full", seen, weights)), by_jacobians(seen, weights))


@pytest.mark.parametrize("name", TASKS)
def test_diag_is_the_diagonal_of_full(name: str) -> None:
    seen, weights = model(TASKS[name])
    found = curvature("diag", seen, weights)
    torch.testing.assert_close(found.values.flatten(), by_jacobians(seen, weights).diagonal())


def kron(seen: LastLayer, weights: Tensor) -> Tensor:
    """The whole matrix of the kron form, in the coordinates of the features."""
    model, axes = spanned(seen)
    found = dense(curvature("kron", model, weights @ axes))
    turn = torch.kron(torch.eye(len(weights), dtype=torch.float64), axes)
    return turn @ found @ turn.T


@pytest.mark.parametrize("features", [4, 20])
@pytest.mark.parametrize("name", TASKS)
def test_kron_is_the_product_of_the_two_sums(name: str, features: int) -> None:
    seen, weights = model(TASKS[name], features=features)
    phi = seen.features.double()
    d, u = seen.task.curvature(phi @ weights.T)
    outer = torch.diag(d.sum(0)) - u.T @ u
    torch.testing.assert_close(kron(seen, weights), torch.kron(outer, phi.T @ phi / len(phi)))


def test_kron_is_exact_where_the_noise_is_the_same_for_every_item() -> None:
    seen, weights = model(TASKS["fixed noise"])
    torch.testing.assert_close(kron(seen, weights), by_jacobians(seen, weights))
    seen, weights = model(TASKS["softmax"])
    assert not torch.allclose(kron(seen, weights), by_jacobians(seen, weights), rtol=0.01)


@pytest.mark.parametrize("name", TASKS)
def test_the_bends_are_the_outputs_own_curvatures(name: str) -> None:
    seen, _ = model(TASKS[name])
    ones = LastLayer(seen.task, torch.ones(9, 1), seen.rest, seen.labels)
    shift = torch.randn(3, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(bends(ones, shift), by_jacobians(ones, shift).diagonal())


@pytest.mark.parametrize("form", ["diag", "kron", "full"])
def test_sums_do_not_depend_on_how_many_items_fit_the_memory(form: str, monkeypatch) -> None:
    seen, weights = model(TASKS["softmax"], count=50)
    whole = dense(curvature(form, seen, weights))
    monkeypatch.setattr(last_layer, "_BUDGET", 8 * 7 * 3)  # three items at a time
    assert len(list(seen.chunks(3))) == 17
    torch.testing.assert_close(dense(curvature(form, seen, weights)), whole)


@pytest.mark.parametrize("name", TASKS)
def test_the_gain_is_that_of_the_blocks_of_every_output(name: str) -> None:
    seen, weights = model(TASKS[name])
    blocks = by_jacobians(seen, weights).view(3, 4, 3, 4)
    unit = torch.eye(4, dtype=torch.float64)
    expected = sum(torch.logdet(unit + blocks[c, :, c] / 0.3).item() for c in range(3))
    assert output_gain(seen, weights, 0.3) == pytest.approx(expected)


def test_some_of_very_many_outputs_speak_for_all(monkeypatch) -> None:
    seen, weights = model(TASKS["tags"], count=60, outputs=40)
    every = output_gain(seen, weights, 0.3)
    monkeypatch.setattr(curvatures, "_MOST", 10)
    some = output_gain(seen, weights, 0.3)
    assert some != every
    assert some == pytest.approx(every, rel=0.1)


def test_outputs_that_are_not_the_layers_own_have_no_weights() -> None:
    task = regression()
    seen, weights = model(regression(tau=1.0))
    log_variance = torch.full((len(seen.features), 3), -0.7)
    behind = LastLayer(task, seen.features, log_variance, seen.labels)
    found = dense(curvature("full", behind, weights))
    fixed = LastLayer(regression(tau=2.0137527), seen.features, seen.rest, seen.labels)
    torch.testing.assert_close(found, dense(curvature("full", fixed, weights)), rtol=1e-6, atol=1e-9)


def test_the_full_form_is_refused_by_size_with_the_figure() -> None:
    refuse_size("full", 10, 513)
    refuse_size("kron", 5000, 513)
    with pytest.raises(InputError, match=r"512 x 5,000 weights needs 52\.4 TB .*use form='kron'"):
        refuse_size("full", 5000, 512)
    with pytest.raises(InputError, match=r"1,025 x 10 weights needs 840\.5 MB"):
        refuse_size("full", 10, 1025)
