"""Errors across a pipe."""

import json

import pytest

from askwise import errors
from askwise.engine.messages import raised, told


def crossed(error):
    """The error as it arrives on the other side."""
    try:
        raise error
    except Exception as caught:
        return raised(json.loads(json.dumps(told(caught))))


@pytest.mark.parametrize("kind", [errors.InputError, errors.TrainingError, errors.CorruptError])
def test_an_error_of_ours_keeps_kind_and_message(kind):
    again = crossed(kind("there is no item 7; look again"))
    assert type(again) is kind
    assert str(again) == "there is no item 7; look again"


def test_any_other_error_tells_its_kind_message_and_place():
    again = crossed(ZeroDivisionError("by nought"))
    assert type(again) is errors.EngineError
    assert str(again).startswith("a worker stopped at ZeroDivisionError: by nought\n")
    assert "test_failures.py" in str(again)


@pytest.mark.parametrize("name", ["choose", "SlowPathWarning", "Callable", "__builtins__"])
def test_a_name_that_is_no_error_of_ours_is_never_called(name):
    again = raised({"kind": name, "message": "m", "trace": ""})
    assert type(again) is errors.EngineError
