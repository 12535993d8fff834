"""Masks: a class for every pixel, some ignored; predictions by rows equal those of whole images."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import askwise as aw
from askwise.bayes.fitted import Fitted
from askwise.bayes.program import ready
from askwise.errors import InputError
from askwise.tasks import segmentation


def masks(*shape: int, classes: int = 3) -> Tensor:
    return torch.randint(classes, shape, generator=torch.Generator().manual_seed(0))


def scenes(count: int) -> tuple[Tensor, Tensor]:
    """Bright and dark squares on grey, and what each pixel is."""
    rng = torch.Generator().manual_seed(1)
    images, truth = torch.full((count, 1, 12, 10), 0.5), torch.zeros(count, 12, 10, dtype=torch.uint8)
    for item in range(count):
        for label, shade in ((1, 1.0), (2, 0.0)):
            row, column = torch.randint(8, (2,), generator=rng).tolist()
            images[item, 0, row : row + 4, column : column + 4] = shade
            truth[item, row : row + 4, column : column + 4] = label
    return images + 0.05 * torch.randn(images.shape, generator=rng), truth


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    network = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Dropout(0.2), nn.Conv2d(8, 3, 3, padding=1)
    )
    images, truth = scenes(24)
    truth[:, 0] = 255
    return aw.fit(
        network,
        (images, truth),
        posterior=aw.mc_dropout(),
        task=segmentation(ignore=255),
        training=aw.Training(epochs=60, batch_size=8, lr=2e-2),
        start="scratch",
    )


def test_the_classes_come_last() -> None:
    outputs = torch.randn(2, 4, 3, 5, 6)
    found = segmentation().predictive(outputs)
    assert found.shape == (2, 4, 5, 6, 3)
    torch.testing.assert_close(found[1, 2, 4, 3], outputs[1, 2, :, 4, 3].log_softmax(dim=0))


def test_the_likelihood_is_cross_entropy_over_pixels() -> None:
    outputs, labels = torch.randn(2, 3, 5, 6), masks(2, 5, 6)
    torch.testing.assert_close(segmentation().nll(outputs, labels), F.cross_entropy(outputs, labels))
    small = labels.to(torch.uint8)
    assert torch.equal(segmentation().nll(outputs, small), segmentation().nll(outputs, labels))


def test_every_image_counts_alike_however_many_of_its_pixels_are_known() -> None:
    outputs, labels = torch.randn(3, 3, 5, 6), masks(3, 5, 6).to(torch.uint8)
    labels[0, :4], labels[2] = 255, 255
    parts = [F.cross_entropy(outputs[i : i + 1], labels[i : i + 1].long(), ignore_index=255) for i in (0, 1)]
    task = segmentation(ignore=255)
    torch.testing.assert_close(task.nll(outputs, labels), sum(parts) / 2)
    assert task.nll(outputs, torch.full_like(labels, 255)).item() == 0
    likely = task.log_likelihood(task.predictive(outputs[:, None]), labels)
    assert torch.equal(likely.isnan(), labels == 255)


def test_a_byte_takes_no_class_for_the_ignored_one() -> None:
    labels = torch.full((1, 2, 2), 44, dtype=torch.uint8)  # 300 as a byte is 44
    assert not segmentation(ignore=300).log_likelihood(torch.zeros(1, 1, 2, 2, 60), labels).isnan().any()


def test_weights_are_of_pixels() -> None:
    labels = torch.tensor([[[0, 0], [0, 1]], [[255, 255], [0, 3]]], dtype=torch.uint8)
    weights = segmentation(ignore=255).class_weights(labels, (5, 2, 2))
    assert weights.tolist() == pytest.approx([6 / (3 * 4), 6 / 3, 0, 6 / 3, 0])


def test_scores_are_reduced_by_mean_max_or_the_top_fraction() -> None:
    scores = torch.arange(20.0).view(1, 4, 5)
    assert segmentation().per_item(scores).item() == 9.5
    assert segmentation(reduce="max").per_item(scores).item() == 19
    assert segmentation(reduce="top", top=0.1).per_item(scores).item() == 18.5
    assert segmentation(reduce="top", top=0.01).per_item(scores).item() == 19  # at least one pixel
    assert segmentation(reduce="top", top=1.0).per_item(scores).item() == 9.5


@pytest.mark.parametrize("top", [0.0, -0.5, 1.5])
def test_a_fraction_is_above_zero_and_at_most_one(top: float) -> None:
    with pytest.raises(InputError, match="top must be a fraction above 0 and at most 1"):
        segmentation(reduce="top", top=top)


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (masks(2, 5, 6).float(), "masks must be whole numbers from 0 to 2, not float32"),
        (masks(2, 5), r"axes \[N, H, W\], not \[2, 5\]"),
        (masks(2, 6, 5), "masks are 6 x 5 and the network's outputs 5 x 6"),
        (masks(2, 5, 6, classes=1) - 1, "label -1 at row 0, column 0 of the mask at position 0"),
        (
            F.pad(masks(2, 4, 6), (0, 0, 0, 1), value=255).to(torch.uint8),
            "label 255 at row 4, column 0 of the mask at position 0 is outside the 3 classes 0 to 2; "
            "for unknown pixels say ignore=255",
        ),
    ],
)
def test_masks_that_do_not_fit_are_refused_in_one_line(labels: Tensor, match: str) -> None:
    with pytest.raises(InputError, match=match) as refused:
        segmentation().labels(labels, (3, 5, 6))
    assert "\n" not in str(refused.value)


def test_what_a_mask_cannot_do_is_refused() -> None:
    with pytest.raises(InputError, match="use balance='weights'"):
        segmentation().chances(masks(2, 5, 6))
    with pytest.raises(InputError, match=r"logits \[N, C, H, W\], not \[2, 90\]"):
        segmentation().curvature(torch.zeros(2, 90))
    with pytest.raises(InputError, match=r"logits \[N, C, H, W\], not \[2, 3\]"):
        segmentation().predictive(torch.zeros(2, 1, 3))


def test_scenes_are_learned_and_the_uncertainty_is_per_pixel(fitted: Fitted) -> None:
    images, truth = scenes(40)
    found = aw.evaluate(fitted, (images[30:], truth[30:]), draws=10)
    assert found["mean_iou"] > 0.8
    assert found["class_accuracy"] > 0.9
    prediction = aw.predict(fitted, images[30:], draws=10)
    assert prediction.mean.shape == (10, 12, 10, 3)
    assert prediction.total.shape == prediction.epistemic.shape == (10, 12, 10)
    torch.testing.assert_close(
        prediction.total, prediction.epistemic + prediction.aleatoric, rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("acquire", ["bald", "max_entropy", "mean_std"])
def test_reduction_by_rows_gives_what_whole_images_give(fitted: Fitted, acquire: str, monkeypatch) -> None:
    images, truth = scenes(5)
    stored = aw.score(acquire, aw.log_probs(fitted, images, draws=7)).mean(dim=(1, 2))
    whole = aw.score_pool(fitted, images, acquire, draws=7)
    measured = aw.evaluate(fitted, (images, truth), draws=7)
    monkeypatch.setattr(
        ready, "BUDGET", 2_000_000
    )  # four bytes x 128 items x 7 draws x 3 x 12 x 10 and copies
    rows = [block.rows for block in ready.blocks(fitted, images, draws=7, seed=0)]
    assert len(rows) > 3
    by_rows = aw.score_pool(fitted, images, acquire, draws=7)
    torch.testing.assert_close(by_rows, whole, rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(by_rows, stored, rtol=1e-4, atol=1e-6)
    again = aw.evaluate(fitted, (images, truth), draws=7)
    assert again.pop("nll") == pytest.approx(measured.pop("nll"), rel=1e-6)
    assert again == measured
