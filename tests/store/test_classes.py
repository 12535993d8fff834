import numpy as np
import pytest
import torch

from askwise.errors import InputError
from askwise.store.classes import edited, names, position
from askwise.store.facts import ClassEdit


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([], "at least two classes"),
        (["cat"], "at least two classes are wanted, not 1: cat"),
        (["cat", "cat"], "'cat' is named 2 times"),
        (["cat", "  "], "empty name"),
        ("cat", "list of names"),
    ],
)
def test_classes_that_cannot_be_told_apart_are_refused(classes, message):
    with pytest.raises(InputError, match=message):
        names(classes)


def test_a_number_of_classes_names_them_by_number():
    assert names(3) == ("0", "1", "2")


@pytest.mark.parametrize("label", [1, np.int64(1), torch.tensor(1), np.uint8(1), "dog"])
def test_a_class_may_be_given_by_name_or_by_position(label):
    assert position(label, ["cat", "dog"]) == 1


def test_where_names_are_numbers_a_number_is_a_name():
    assert position(7, ["5", "7"]) == 1
    with pytest.raises(InputError, match="is '1', which is no class"):
        position(1, ["5", "7"])


@pytest.mark.parametrize("label", [True, 1.5, 1j, None, -1, np.array([1, 2]), torch.tensor(0.5), [1]])
def test_what_is_neither_is_refused(label):
    with pytest.raises(InputError, match="must be a class name or number"):
        position(label, ["cat", "dog"])


def test_an_unknown_class_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="the label of 'x' is 'dogg', which is no class; did you mean 'dog'"):
        position("dogg", ["cat", "dog"], what="the label of 'x'")
    with pytest.raises(InputError, match="which is no class; choose one of: cat, dog"):
        position(2, ["cat", "dog"])


def add(number, name):
    return ClassEdit(edit="add", number=number, name=name)


THREE = [add(0, "cat"), add(1, "dog"), add(2, "puppy")]


def test_a_class_keeps_its_number_whatever_happens_to_the_others():
    found = edited([*THREE, ClassEdit(edit="rename", number=0, name="lion"), add(3, "wolf")])
    assert (found.names, found.active()) == (["lion", "dog", "puppy", "wolf"], [0, 1, 2, 3])


def test_labels_of_a_merged_class_count_for_the_other_and_those_of_a_split_or_retired_one_for_none():
    found = edited(
        [
            *THREE,
            ClassEdit(edit="merge", number=2, into=(1,)),
            add(3, "wolf"),
            add(4, "fox"),
            ClassEdit(edit="merge", number=1, into=(3,)),
            ClassEdit(edit="retire", number=0),
        ]
    )
    assert [found.now(number) for number in range(5)] == [None, 3, 3, 3, 4]
    assert found.active() == [3, 4]
    split = edited([*THREE, ClassEdit(edit="split", number=0, into=(1, 2))])
    assert [split.now(number) for number in range(3)] == [None, 1, 2]


@pytest.mark.parametrize(
    "wrong",
    [
        add(7, "wolf"),
        ClassEdit(edit="merge", number=0, into=(0,)),
        ClassEdit(edit="merge", number=0, into=(1, 2)),
        ClassEdit(edit="split", number=0, into=(1,)),
        ClassEdit(edit="retire", number=0, into=(1,)),
        ClassEdit(edit="rename", number=9, name="wolf"),
        ClassEdit(edit="forget", number=0),
    ],
)
def test_an_edit_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(InputError):
        edited([*THREE, wrong])
