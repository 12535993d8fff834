"""The report of runs with tags, numbers and masks: what it shows, and that it is one page without errors."""

import pytest
import torch
from task_runs import IDS, LABELS, TRUTH, items, learner

from askwise import nets
from askwise.errors import InputError
from askwise.pool import arrays
from askwise.report.assemble import assemble
from askwise.report.page import render
from askwise.report.past import past
from askwise.report.pictures import heat, overlaid, painted
from askwise.report.summary import of_run
from askwise.store import open_store


def known(task):
    """A network that a report can build again from its checkpoint."""
    if task == "segmentation":
        return nets.build("segnet_basic", channels=3, classes=2, width=2)
    dense = nets.build("mlp", features=4, classes=1 if task == "regression" else 3, hidden=(8,))
    return nets.build("homoscedastic", network=dense) if task == "regression" else dense


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The content and page of one run of each task."""
    found = {}
    for task in ("multilabel", "regression"):
        path = tmp_path_factory.mktemp(task) / "run.db"
        with learner(task, path, network=known(task), budget=7) as run:
            run.run(oracle=TRUTH[task])
        store = open_store(path, access="read")
        content = assemble([store], pool=arrays(items(task)[:40], ids=IDS))
        found[task] = content, render(content), of_run(past(store))
        store.close()
    return found


def test_tags_have_a_curve_of_top_1_all_measures_and_their_recall(pages):
    content, page, summary = pages["multilabel"]
    assert content.curves[0].measure == "top_1"
    assert set(content.measured[-1].values) >= {"top_1", "top_5", "recall_micro", "f1_micro", "f1_macro"}
    assert len(content.recall) == len(content.balance) == 3
    assert "test top-1" in page
    assert "micro F1" in page
    assert "Labels to a target" not in page  # targets of accuracy say nothing here
    assert summary["metric"] == "top_1"
    assert len(summary["top_1"]) == len(summary["labels"])


def test_items_show_their_tags_with_what_the_model_thinks(pages):
    content, _, _ = pages["multilabel"]
    assert "joy" in {tag for shown in content.asked if shown.label for tag in shown.label.split(", ")}
    assert all("%" in shown.guess for shown in content.unsure)


def test_numbers_are_drawn_against_the_truth_with_bands_in_their_own_units(pages):
    content, page, _ = pages["regression"]
    assert len(content.points) == 20
    assert all(one.deviation > 0 for one in content.points)
    assert 150 < sum(one.truth for one in content.points) / 20 < 450
    assert "Predicted and true" in page
    assert not content.curves[0].share
    assert "test RMSE" in page
    assert all(not shown.judged for shown in content.asked)
    assert "±" in content.unsure[0].guess


def test_runs_of_two_tasks_are_not_drawn_together():
    runs = [learner(task) for task in ("multilabel", "regression")]
    with pytest.raises(InputError, match="is a run of multilabel, and memory of regression"):
        assemble([run.store for run in runs])


def test_masks_have_overlap_and_pictures(tmp_path):
    pictures = torch.rand(60, 3, 16, 16, generator=torch.Generator().manual_seed(1))
    masks = (pictures[:, 0] > 0.5).byte()
    truth = dict(zip(IDS, masks, strict=False))
    assert LABELS["segmentation"].shape[1:] != masks.shape[1:]
    pool, test = arrays(pictures[:40], ids=IDS), (pictures[40:], masks[40:])
    with learner(
        "segmentation", tmp_path / "run.db", network=known("segmentation"), pool=pool, test=test, budget=7
    ) as run:
        run.run(oracle=truth)
    store = open_store(tmp_path / "run.db", access="read")
    content = assemble([store], pool=pool)
    page = render(content)
    store.close()
    assert len(content.overlap) == 2
    assert "Overlap of each class" in page
    assert [said for said, _ in content.unsure[0].more] == ["the mask it would draw", "where it is uncertain"]
    assert any(shown.more for shown in content.asked)
    assert 'style="background:#4682b4"' in page  # the colour of the first class, beside its name


def test_what_is_unsure_comes_in_the_order_of_its_scores(pages):
    for content, _, _ in pages.values():
        scores = [shown.score for shown in content.unsure]
        assert len(scores) > 5
        assert scores == sorted(scores, reverse=True)


def test_a_mask_is_painted_in_the_colours_of_its_classes():
    import io

    import numpy as np
    from PIL import Image

    mask = torch.tensor([[0, 1], [2, 9]])
    found = np.array(Image.open(io.BytesIO(painted(mask, 3))))
    assert len({tuple(pixel) for row in found for pixel in row}) == 4
    assert tuple(found[1, 1]) == (0, 0, 0)  # no class
    over = np.array(Image.open(io.BytesIO(overlaid(torch.ones(1, 4, 4), mask, 3))))
    assert over.shape == (4, 4, 3)
    hot = np.array(Image.open(io.BytesIO(heat(torch.tensor([[0.0, 1.0]])))))
    assert hot.tolist() == [[0, 255]]
