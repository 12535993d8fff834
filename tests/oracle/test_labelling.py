"""Labels of every task, as people write them, as they are stored, and as a network learns them."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from askwise.errors import InputError
from askwise.oracle import Simulated
from askwise.oracle.contract import Question
from askwise.oracle.labelling import TagSets, labelling
from askwise.oracle.masks import Masks
from askwise.store.labels import Mask, Numbers, Tags

TAGS = labelling({"name": "multilabel"}, ["7", "3", "a;b"])
VALUES = labelling({"name": "regression"}, ["height", "weight"])


@given(st.sets(st.integers(0, 2)), st.sets(st.integers(0, 2)))
def test_tags_survive_text_and_rows(own, unknown):
    label = Tags(tuple(own), tuple(unknown - own))
    assert TAGS.label(TAGS.text(label), what="it") == label
    assert TAGS.label(TAGS.row(label), what="it") == label
    assert TAGS.label(label, what="it") == label


def test_an_item_without_tags_has_a_word_of_its_own_even_if_a_tag_is_called_none():
    for names, word in ((("a", "b"), "none"), (("a", "none"), "|"), (("none", "a|b"), ";")):
        kind = TagSets(names)
        assert kind.text(Tags((), ())) == word
        assert kind.label(word, what="it") == Tags((), ())


def test_names_that_are_numbers_do_not_change_what_a_row_means():
    assert TAGS.label(np.array([1, 0, 0]), what="it") == Tags((0,))
    assert TAGS.label([7], what="it") == Tags((0,))
    with pytest.raises(InputError, match="has tag number 3, and there are 3 tags"):
        TAGS.label(Tags((3,)), what="it")


def test_an_unknown_tag_leaves_another_with_its_letters_alone():
    kind = labelling({"name": "multilabel"}, ["love", "glove", "a|b"])
    assert kind.label("?love;glove", what="it") == Tags((1,), (0,))
    assert kind.label(kind.text(Tags((1, 2))), what="it") == Tags((1, 2))


def test_a_mark_that_a_tag_contains_separates_nothing():
    assert TAGS.label("a;b|7", what="it") == Tags((0, 2))


@given(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.floats(-1e9, 1e9)))
def test_numbers_survive_text_and_rows_to_the_last_bit(values):
    label = Numbers(values)
    assert VALUES.label(VALUES.text(label), what="it") == label
    assert VALUES.label(VALUES.row(label), what="it") == label


@pytest.mark.parametrize(
    ("names", "text", "wanted"),
    [
        ("x", "-3,5", (-3.5,)),
        ("x", "1,5e3", (1500.0,)),
        ("x", "0,125", (0.125,)),
        ("xy", "1,5", (1.0, 5.0)),
        ("xy", "1,5|-2,5", (1.5, -2.5)),
        ("xy", "1,5; 2", (1.5, 2.0)),
        ("xy", "1.5, 2", (1.5, 2.0)),
    ],
)
def test_a_comma_that_separates_no_numbers_is_a_decimal_one(names, text, wanted):
    assert labelling({"name": "regression"}, names).said(text, what="it") == Numbers(wanted)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,234", "it is '1,234', which may be 1.234 or 1234; write it without the comma"),
        ("1.234,5", "it must be a number, not '1.234,5'"),
        ("3,5,1", "it must be a number, not '3,5,1'"),
        ("3;5", "it must be a number, and is 2 numbers"),
    ],
)
def test_a_comma_that_may_mean_something_else_is_refused(text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        labelling({"name": "regression"}, ["x"]).said(text, what="it")


def test_a_mask_survives_its_file_whatever_it_was_told_as(tmp_path):
    mask = np.array([[0, 1], [2, 255]], np.uint8)
    masks = Masks(tmp_path / "masks")
    kind = labelling({"name": "segmentation", "ignore": 255}, "abc", size=(2, 2), masks=masks)
    Image.fromarray(mask).save(tmp_path / "grey.png")
    np.save(tmp_path / "mask.npy", mask.astype(np.int64))
    told = [mask, torch.from_numpy(mask).long(), tmp_path / "grey.png", str(tmp_path / "mask.npy")]
    (label,) = {kind.label(one, what="it") for one in told}
    assert isinstance(label, Mask)
    assert not (tmp_path / "masks").exists()  # checked, and not told yet
    masks.keep([label])
    again = labelling({"name": "segmentation"}, "abc", masks=Masks(tmp_path / "masks"))
    assert torch.equal(again.row(label), torch.from_numpy(mask))


def test_a_picture_with_colours_is_no_mask(tmp_path):
    Image.new("RGB", (2, 2)).save(tmp_path / "photo.png")
    with pytest.raises(InputError, match=r"has colours \(RGB\); a mask's pixels are numbers"):
        labelling({"name": "segmentation"}, "ab").label(tmp_path / "photo.png", what="it")
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(InputError, match="cannot be read as a mask"):
        labelling({"name": "segmentation"}, "ab").label(tmp_path / "text.png", what="it")


def test_a_simulated_mistake_is_the_label_of_another_item():
    truth = {f"i{number}": [number, 0.0] for number in range(30)}
    questions = [Question(id=name, row=0, name=name, round=0, rank=0) for name in truth]
    told = Simulated(truth, classes=VALUES, noise=0.5, seed=1).answer(questions)
    wrong = [name for name in truth if told[name] != truth[name]]
    assert 5 < len(wrong) < 25
    assert all(told[name] in truth.values() for name in wrong)
    assert Simulated(truth, classes=VALUES).answer(questions) == truth  # the control
