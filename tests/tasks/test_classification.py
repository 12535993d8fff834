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
    found = classification(link="softplus").log_probs(outputs).exp()
    torch.testing.assert_close(found, p / p.sum(-1, keepdim=True))
    assert not torch.allclose(found, classification().log_probs(outputs).exp())


def test_names_and_tasks_are_both_taken() -> None:
    task = classification(link="softplus")
    assert named(task) is task
    assert named("classification").options == {"link": "softmax"}


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (torch.tensor([0, 1, 3]), "label 3 at position 2 is outside the 3 classes 0 to 2"),
        (torch.tensor([0, -1, 2]), "label -1 at position 1"),
        (torch.tensor([0.0, 1.0]), "whole numbers from 0 to 2, not float32"),
        (torch.tensor([[0, 1]]), r"one axis \[N\], not \[1, 2\]"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels: torch.Tensor, match: str) -> None:
    with pytest.raises(InputError, match=match):
        classification().labels(labels, 3)
