from dataclasses import replace

import pytest
import torch

from askwise.compare import strange
from askwise.compare.strange import strange_items, strange_name
from askwise.data import load
from askwise.errors import InputError


def test_shuffled_images_have_the_same_pixels_in_another_order_the_same_for_all() -> None:
    images = torch.arange(2 * 3 * 4 * 5, dtype=torch.float32).view(2, 3, 4, 5)
    found = strange_items("shuffled", images)
    assert torch.equal(found.flatten(2).sort(-1).values, images.flatten(2))
    assert not torch.equal(found, images)
    order = found.flatten(2) - images.flatten(2)[..., :1]
    assert (order == order[0, 0]).all()
    assert torch.equal(found, strange_items("shuffled", images))


def pictures(**changes):
    return lambda name, **_: replace(load("digits"), name=name, **changes)


def test_the_usual_strange_set_is_taken_where_it_is_here(monkeypatch, tmp_path) -> None:
    assert strange_name("mnist", None, data_dir=tmp_path) == "shuffled"
    assert strange_name("digits", None) == "shuffled"
    monkeypatch.setattr(strange, "load", pictures())
    assert strange_name("mnist", None) == "fashion_mnist"
    assert strange_name("fashion_mnist", None) == "mnist"
    assert strange_name("mnist", "shuffled") == "shuffled"


def test_another_data_set_is_scaled_to_the_images(monkeypatch) -> None:
    monkeypatch.setattr(strange, "load", pictures(test_x=torch.full((30, 1, 28, 28), 0.25)))
    found = strange_items("fashion_mnist", torch.zeros(10, 1, 8, 8))
    assert found.shape == (30, 1, 8, 8)
    torch.testing.assert_close(found, torch.full_like(found, 0.25))


def test_items_of_another_form_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(strange, "load", pictures(test_x=torch.zeros(30, 3, 32, 32)))
    with pytest.raises(InputError, match=r"items of cifar10 \(\[3, 32, 32\]\) cannot stand beside images"):
        strange_items("cifar10", torch.zeros(10, 1, 8, 8))
