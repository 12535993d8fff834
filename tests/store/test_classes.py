import numpy as np
import pytest
import torch

from askwise.errors import InputError
from askwise.store.classes import names, position


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
