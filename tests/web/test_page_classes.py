"""Keys of classes: digits, then letters of their names, each once."""

from askwise.store.classes import Edited
from askwise.web.classes import keys, shown


def test_the_first_ten_have_digits_and_the_others_letters_of_their_names():
    names = [f"class {number}" for number in range(10)] + ["ant", "apple", "toad", "Ängel"]
    assert keys(names) == [*"1234567890", "a", "p", "t", "n"]


def test_a_class_that_is_called_by_a_digit_has_that_key():
    assert keys(list("0123456789")) == list("0123456789")
    assert keys(["7", "cat", "dog"]) == ["7", "2", "3"]
    assert keys(["2", "cat"]) == ["2", "c"]


def test_no_key_is_given_twice_and_with_three_hundred_classes_some_have_none():
    found = keys([f"{number:03d}" for number in range(300)])
    given = [key for key in found if key is not None]
    assert len(given) == len(set(given)) == 36
    assert found[:10] == [*"1234567890"]


def test_a_class_that_is_no_longer_used_has_no_key_and_says_what_became_of_it():
    found = shown(Edited(["cat", "kitten", "dog"], {1: (0,), 2: ()}, {0: "pets"}))
    assert [(one.name, one.key, one.parent, one.into, one.retired) for one in found] == [
        ("cat", "1", "pets", [], False),
        ("kitten", None, None, ["cat"], True),
        ("dog", None, None, [], True),
    ]
