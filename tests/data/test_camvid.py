import numpy as np
import pytest
import torch
from tiny_data import camvid_contents, camvid_set, picture, put, street_pictures

from askwise.errors import CorruptError, InputError


def load(tmp_path, pictures=None, **options):
    contents = camvid_contents(pictures)
    return camvid_set(contents).dataset(put(tmp_path, contents), **options)


def test_images_and_masks_belong_together(tmp_path):
    data = load(tmp_path)
    assert data.train_x.shape == (3, 3, 6, 8)
    assert data.train_y.shape == (3, 6, 8)
    bright = data.train_x.mean(dim=1) > 0.5
    assert torch.equal(bright, data.train_y == 1)
    assert (len(data.test_x), len(data.validation.x)) == (2, 1)


def test_a_pixel_without_a_class_has_the_label_to_ignore(tmp_path):
    data = load(tmp_path)
    assert (data.task, data.ignore) == ("segmentation", 2)
    assert (data.train_y == data.ignore).sum() == 3
    assert data.train_y[0, 0, 0] == data.ignore


def test_shrinking_takes_means_of_colours_and_single_labels(tmp_path):
    whole, half = load(tmp_path), load(tmp_path, shrink=2)
    assert half.train_x.shape == (3, 3, 3, 4)
    torch.testing.assert_close(half.train_x, torch.nn.functional.avg_pool2d(whole.train_x, 2))
    assert torch.equal(half.train_y, whole.train_y[:, 1::2, 1::2])


def test_ids_are_the_names_of_the_images(tmp_path):
    data = load(tmp_path)
    assert data.train_ids == ("camvid-train_0", "camvid-train_1", "camvid-train_2")
    assert data.validation.ids == ("camvid-val_0",)


def test_a_factor_that_leaves_a_rest_is_refused(tmp_path):
    with pytest.raises(InputError, match="shrink must divide 8 and 6, and 4 does not"):
        load(tmp_path, shrink=4)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train/train_0.jpg", None, "holds 2 train images, not 3"),
        ("valannot/val_0.png", None, "camvid_240x180.zip has no valannot/val_0.png"),
        ("testannot/test_1.png", b"no picture", "testannot/test_1.png cannot be read as a PNG picture"),
        ("testannot/test_1.png", picture(np.zeros((6, 7), np.uint8)), "picture of 7 x 6 L, not 8 x 6 L"),
        ("trainannot/train_2.png", picture(np.full((6, 8), 3, np.uint8)), "has a pixel of class 3, above 2"),
        ("train/train_1.jpg", picture(np.zeros((6, 8, 3), np.uint8)), "cannot be read as a JPEG picture"),
    ],
    ids=["an image too few", "no mask", "no picture", "another size", "another class", "another kind"],
)
def test_what_does_not_fit_is_named(tmp_path, name, content, message):
    pictures = street_pictures()
    del pictures[name]
    if content is not None:
        pictures[name] = content
    with pytest.raises(CorruptError, match=message):
        load(tmp_path, pictures)
