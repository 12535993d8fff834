import pytest
import torch
from tiny_data import isic_contents, isic_set, put, zipped

from askwise.errors import CorruptError, InputError


def load(tmp_path, **options):
    return isic_set(isic_contents()).dataset(put(tmp_path, isic_contents()), **options)


def test_rows_without_an_image_are_left_out(tmp_path):
    data = load(tmp_path)
    assert data.train_ids == ("isic2016-a", "isic2016-c")
    assert data.train_y.tolist() == [0, 1]
    assert data.train_x.shape == (2, 3, 4, 4)
    assert data.test_ids == ("isic2016-d",)


def test_shrinking_takes_means(tmp_path):
    whole, small = load(tmp_path), load(tmp_path, shrink=4)
    torch.testing.assert_close(small.train_x[..., 0, 0], whole.train_x.mean(dim=(2, 3)))
    with pytest.raises(InputError, match="shrink must divide 4 and 4, and 3 does not"):
        load(tmp_path, shrink=3)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("train.csv", b"", "train.csv lacks the columns image_id, malignant and file"),
        (
            "train.csv",
            b"image_id,malignant,file\na,2,a.jpg\n",
            "train.csv has a label '2'; malignant is 0 or 1",
        ),
        ("test.csv", b"image_id,malignant,file\nd,0,\n", "test.csv names 0 images, not 1"),
        ("images_256.zip", zipped({}), "images_256.zip has no a.jpg, c.jpg"),
        ("images_256.zip", b"no zip", "images_256.zip is not a whole archive"),
    ],
    ids=["empty table", "another label", "no image", "empty zip", "no zip"],
)
def test_what_does_not_fit_is_named(tmp_path, file, content, message):
    contents = {**isic_contents(), file: content}
    with pytest.raises(CorruptError, match=message):
        isic_set(contents).dataset(put(tmp_path, contents))
