"""Classification: links, likelihood and labels."""

import pytest
import torch

from askwise.errors import InputError
from askwise.tasks import classification, named


def test_the_likelihood_is_cross_entropy() -> None:
    outputs, labels = torch.randn(7, 4), torch.arange(7) % 4
    expected = torch.nn.functional.cross_entropy(outputs, labels)
    torch.testing.assert_close(classification().nll(outputs, labels), expected)


def test_softplus_probabilities_are_softplus_over_its_sum() -> None:
    outputs = torch.randn(5, 2, 4)
    p = torch.nn.functional.softplus(outputs)
    found = classification(link="softplus").predictive(outputs).exp()
    torch.testing.assert_close(found, p / p.sum(-1, keepdim=True))
    assert not torch.allclose(found, classification().predictive(outputs).exp())


def test_names_and_tasks_are_both_taken() -> None:
    task = classification(link="softplus")
    assert named(task) is task
    assert named("classification").options == {"link": "softmax", "ignore": None}


SOFT = torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8]])


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (torch.tensor([0, 1, 3]), "label 3 at position 2 is outside the 3 classes 0 to 2"),
        (torch.tensor([0, -1, 2]), "label -1 at position 1"),
        (torch.tensor([0.0, 1.0]), "whole numbers from 0 to 2, not float32"),
        (torch.tensor([[0, 1]]), r"one axis \[N\], not \[1, 2\].*one-hot.*multilabel"),
        (SOFT[:, :2], "soft labels have 2 columns, and the network tells 3 classes apart"),
        (SOFT * 2, "row 0 of the soft labels sums to 2, not to 1; for several tags .*multilabel"),
        (torch.tensor([[0.5, 0.5, 0.0], [1.0, 1.0, 0.0]]), "row 1 of the soft labels sums to 2"),
        (torch.tensor([[0.5, 0.5, 0.0], [1.5, -0.5, 0.0]]), "row 1 .* not made of probabilities"),
        (torch.tensor([[torch.nan, 0.5, 0.5]]), "row 0 .* not made of probabilities"),
    ],
)
def test_labels_that_do_not_fit_are_refused_in_one_line(labels: torch.Tensor, match: str) -> None:
    with pytest.raises(InputError, match=match) as refused:
        classification().labels(labels, (3,))
    assert "\n" not in str(refused.value)


def test_labels_that_fit_pass_as_they_are() -> None:
    task = classification(ignore=-1)
    assert torch.equal(task.labels(torch.tensor([0, 2, -1]).int(), (3,)), torch.tensor([0, 2, -1]))
    assert torch.equal(task.labels(SOFT, (3,)), SOFT)
    assert task.labels(torch.tensor([True, False]), (2,)).tolist() == [1, 0]


def test_soft_labels_that_are_sure_are_labels() -> None:
    task, outputs = classification(), torch.randn(7, 4)
    labels = torch.arange(7) % 4
    hot = torch.nn.functional.one_hot(labels, 4).float()
    weights = torch.tensor([0.5, 2.0, 1.0, 0.0])
    torch.testing.assert_close(task.nll(outputs, hot), task.nll(outputs, labels))
    torch.testing.assert_close(task.nll(outputs, hot, weights), task.nll(outputs, labels, weights))
    found = task.predictive(torch.randn(7, 5, 4))
    torch.testing.assert_close(task.log_likelihood(found, hot), task.log_likelihood(found, labels))
    torch.testing.assert_close(task.chances(hot), task.chances(labels))


def test_the_likelihood_of_soft_labels_is_cross_entropy_with_them() -> None:
    outputs = torch.randn(2, 3)
    expected = torch.nn.functional.cross_entropy(outputs, SOFT)
    torch.testing.assert_close(classification().nll(outputs, SOFT), expected)


def test_a_weight_multiplies_the_likelihood_of_its_class_and_of_no_other() -> None:
    task, outputs, labels = classification(), torch.randn(6, 3), torch.arange(6) % 3
    each = torch.nn.functional.cross_entropy(outputs, labels, reduction="none")
    weights = torch.tensor([3.0, 0.0, 1.0])
    torch.testing.assert_close(task.nll(outputs, labels, weights), (each * weights[labels]).mean())


def test_ignored_items_add_nothing() -> None:
    task, outputs = classification(ignore=9), torch.randn(4, 3)
    labels = torch.tensor([0, 9, 2, 9])
    torch.testing.assert_close(
        task.nll(outputs, labels), classification().nll(outputs[[0, 2]], labels[[0, 2]])
    )
    assert task.nll(outputs, torch.full((4,), 9)).item() == 0
    likely = task.log_likelihood(task.predictive(outputs[:, None]), labels)
    assert likely.isnan().tolist() == [False, True, False, True]
    assert task.chances(labels).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("link", ["softmax", "softplus"])
def test_the_curvature_is_the_expected_square_of_the_score(link: str) -> None:
    task = classification(link=link)
    outputs = torch.randn(1, 4, dtype=torch.float64, requires_grad=True)
    probs = task.predictive(outputs[:, None])[0, 0].exp().detach()
    fisher = torch.zeros(4, 4, dtype=torch.float64)
    for label in range(4):
        (slope,) = torch.autograd.grad(task.nll(outputs, torch.tensor([label])), outputs)
        fisher += probs[label] * torch.outer(slope[0], slope[0])
    d, u = task.curvature(outputs.detach())
    torch.testing.assert_close(torch.diag(d[0]) - torch.outer(u[0], u[0]), fisher)
