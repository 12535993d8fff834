import pytest

from askwise.errors import InputError
from askwise.oracle import Function, Question, open_oracle
from askwise.oracle.function import OracleError

QUESTIONS = [Question(id=name, row=0, name=name, round=0, rank=0) for name in ("a", "b", "c")]


def test_it_answers_one_question_at_a_time_and_none_means_not_yet():
    asked = []

    def knows_b(question):
        asked.append(question.id)
        return "dog" if question.id == "b" else None

    assert Function(knows_b).answer(QUESTIONS) == {"b": "dog"}
    assert asked == ["a", "b"]
    assert Function(lambda question: None).answer(QUESTIONS) == {}


def test_a_failure_names_the_item_and_says_what_is_safe():
    def fails(question):
        raise TimeoutError("no reply in 30 s")

    with pytest.raises(OracleError, match="failed on item 'a': TimeoutError: no reply in 30 s; all earlier"):
        Function(fails).answer(QUESTIONS)


def test_what_cannot_answer_is_refused():
    with pytest.raises(InputError, match="an oracle is a path, a mapping of labels or a function, not int"):
        open_oracle(3, classes=["a", "b"])
