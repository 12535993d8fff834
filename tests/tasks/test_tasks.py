"""One suite over every task in the table: to add one is to pass this."""

import json

import pytest
import torch
from torch import Tensor

from askwise.errors import InputError
from askwise.tasks import TASKS, Task, classification, multilabel, named, regression, segmentation

EXAMPLES = [
    (classification(), (6, 4), torch.arange(6) % 4),
    (classification(link="softplus", ignore=2), (6, 4), torch.arange(6) % 4),
    (classification(), (6, 4), torch.rand(6, 4).softmax(dim=1)),
    (multilabel(reduce="sum", threshold=0.3), (6, 4), torch.arange(24).view(6, 4) % 2),
    (regression(tau=2.0), (6, 3), torch.randn(6, 3)),
    (regression(), (6, 2), torch.randn(6)),
    (segmentation(ignore=2, reduce="top", top=0.2), (6, 3, 4, 5), torch.arange(120).view(6, 4, 5) % 3),
]
SUMS = ("multilabel", "regression")  # the sites of an item add up; elsewhere they are averaged


@pytest.fixture(params=EXAMPLES, ids=lambda example: example[0].name)
def example(request) -> tuple[Task, Tensor, Tensor]:
    task, shape, labels = request.param
    outputs = torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return task, outputs, task.labels(labels, shape[1:])


def test_every_task_is_examined() -> None:
    assert {task.name for task, _, _ in EXAMPLES} == set(TASKS)


def test_learning_and_measuring_judge_by_the_same_likelihood(example) -> None:
    task, outputs, labels = example
    likely = task.log_likelihood(task.predictive(outputs[:, None]), labels).reshape(len(labels), -1)
    known = [row[~row.isnan()] for row in likely]
    items = [row.sum() if task.name in SUMS else row.mean() for row in known if len(row)]
    torch.testing.assert_close(task.nll(outputs, labels), -torch.stack(items).mean())


def test_an_item_counts_if_one_of_its_labels_is_known(example) -> None:
    task, outputs, labels = example
    likely = task.log_likelihood(task.predictive(outputs[:, None]), labels).reshape(len(labels), -1)
    assert torch.equal(task.known(labels), ~likely.isnan().all(dim=1))


@pytest.mark.parametrize(
    ("task", "outputs", "labels"),
    [
        (classification(ignore=9), (4, 3), torch.tensor([0, 9, 2, 9])),
        (multilabel(), (4, 2), torch.tensor([[0.0, 1], [-1, -1], [1, -1], [-1, -1]])),
        (segmentation(ignore=9), (4, 3, 1, 2), torch.tensor([[[0, 1]], [[9, 9]], [[2, 9]], [[9, 9]]])),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_unknown_items_change_neither_loss_nor_curvature(task: Task, outputs, labels: Tensor) -> None:
    found = torch.randn(*outputs, dtype=torch.float64)
    known = task.known(labels)
    assert known.tolist() == [True, False, True, False]
    torch.testing.assert_close(task.nll(found, labels), task.nll(found[known], labels[known]))
    for all_of_them, alone in zip(
        task.curvature(found, labels), task.curvature(found[known], labels[known]), strict=True
    ):
        assert torch.equal(all_of_them[known], alone)
        assert not all_of_them[~known].any()
    assert task.curvature(found)[0][~known].any()  # the control: without labels every item counts


@pytest.mark.parametrize("weighted", [False, True])
def test_the_curvature_is_what_the_loss_bends_by(example, weighted: bool) -> None:
    task, outputs, labels = example
    if task.options.get("link") == "softplus" or (task.name == "regression" and task.options["tau"] is None):
        pytest.skip("the loss bends by the Fisher information only on average over the labels")
    weights = None
    if weighted and task.name != "regression":
        weights = torch.linspace(0.5, 2.0, outputs.shape[1], dtype=torch.float64)
    found, truth = outputs[:1], labels[:1]
    if not task.known(truth).any():
        pytest.skip("nothing is known of the first item")
    hessian = torch.autograd.functional.hessian(lambda o: task.nll(o, truth, weights), found)
    d, u = task.curvature(found, truth, weights)
    wide = found.shape[1]
    for site in range(found[0, 0].numel()):
        own = hessian.reshape(wide, -1, wide, found[0, 0].numel())[:, site, :, site]
        at = d.reshape(wide, -1)[:, site], u.reshape(wide, -1)[:, site]
        torch.testing.assert_close(torch.diag(at[0]) - torch.outer(at[1], at[1]), own)


def test_draws_are_averaged_before_the_logarithm(example) -> None:
    task, outputs, labels = example
    if labels.is_floating_point() and task.name == "classification":
        labels = labels.argmax(dim=1)  # soft labels expect the logarithm, after the same average
    both = task.predictive(torch.stack([outputs, outputs.flip(0)], dim=1))
    each = [task.log_likelihood(both[:, [draw]], labels) for draw in (0, 1)]
    torch.testing.assert_close(
        task.log_likelihood(both, labels), ((each[0].exp() + each[1].exp()) / 2).log(), equal_nan=True
    )


def test_the_uncertainty_adds_up_and_every_item_gets_one_score(example) -> None:
    task, outputs, _ = example
    one = task.summary(task.predictive(outputs[:, None] + torch.randn(1, 5, *[1] * (outputs.ndim - 1))))
    torch.testing.assert_close(one.total, one.epistemic + one.aleatoric)
    assert task.per_item(one.total).shape == (len(outputs),)


def test_a_meter_measures(example) -> None:
    task, outputs, labels = example
    meter = task.metrics()
    meter.update(task.summary(task.predictive(outputs[:, None])).mean, labels)
    assert json.loads(json.dumps(meter.compute()))


def test_options_are_plain_and_make_the_same_task(example) -> None:
    task = example[0]
    options = json.loads(json.dumps(task.options))
    assert TASKS[task.name](**options).options == task.options


def test_a_name_gives_the_task_and_an_unknown_one_is_refused() -> None:
    assert named("segmentation").name == "segmentation"
    with pytest.raises(InputError, match="unknown task 'segmentaton'; did you mean 'segmentation'"):
        named("segmentaton")
