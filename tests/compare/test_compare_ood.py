from dataclasses import replace

import pytest
import torch

from askwise.compare import ood
from askwise.compare.ood import ood_items, ood_name, photos
from askwise.data import load
from askwise.errors import InputError


def pictures(**changes):
    return lambda name, **_: replace(load("digits"), name=name, **changes)


def test_photographs_are_cut_into_patches_that_lie_side_by_side(monkeypatch) -> None:
    from sklearn.datasets import load_sample_images

    first = torch.from_numpy(load_sample_images().images[0].copy()).float() / 255
    found = photos(3, 32, 32)
    assert found.shape == (2 * 13 * 20, 3, 32, 32)
    torch.testing.assert_close(found[0], first[:32, :32].movedim(-1, 0))
    torch.testing.assert_close(found[21], first[32:64, 32:64].movedim(-1, 0))
    grey = photos(1, 32, 32)
    torch.testing.assert_close(grey[21, 0], first[32:64, 32:64] @ torch.tensor([0.299, 0.587, 0.114]))


def test_patches_of_both_photographs_are_in_the_range_of_images_and_differ() -> None:
    found = ood_items("photos", torch.zeros(10, 1, 8, 8))
    assert 1000 < len(found) <= 2000
    assert found.shape[1:] == (1, 8, 8)
    assert 0 <= found.min() < 0.1 < 0.9 < found.max() <= 1
    assert len(found.flatten(1).unique(dim=0)) > 0.95 * len(found)
    halves = found.chunk(2)
    assert abs(halves[0].mean() - halves[1].mean()) > 0.05  # a temple and a flower
    assert torch.equal(found, ood_items("photos", torch.zeros(10, 1, 8, 8)))


def test_the_usual_other_data_are_taken_where_they_are_here_and_photographs_elsewhere(
    monkeypatch, tmp_path
) -> None:
    for name in ("mnist", "digits", "fashion_mnist", "cifar10"):
        assert ood_name(name, None, data_dir=tmp_path) == "photos"
    monkeypatch.setattr(ood, "load", pictures())
    assert ood_name("mnist", None) == "fashion_mnist"
    assert ood_name("digits", None) == "fashion_mnist"
    assert ood_name("fashion_mnist", None) == "mnist"
    assert ood_name("cifar10", None) == "photos"
    assert ood_name("mnist", "photos") == "photos"


def test_another_data_set_is_scaled_to_the_images(monkeypatch) -> None:
    monkeypatch.setattr(ood, "load", pictures(test_x=torch.full((30, 1, 28, 28), 0.25)))
    found = ood_items("fashion_mnist", torch.zeros(10, 1, 8, 8))
    assert found.shape == (30, 1, 8, 8)
    torch.testing.assert_close(found, torch.full_like(found, 0.25))


def test_items_of_another_form_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(ood, "load", pictures(test_x=torch.zeros(30, 3, 32, 32)))
    with pytest.raises(InputError, match=r"items of cifar10 \(\[3, 32, 32\]\) cannot stand beside images"):
        ood_items("cifar10", torch.zeros(10, 1, 8, 8))
    with pytest.raises(InputError, match="photos have 1 or 3 channels, and the images 2"):
        photos(2, 8, 8)
