"""One exam for every oracle."""

import pytest

from askwise.oracle import File, Function, Oracle, Question, Simulated, open_oracle
from askwise.store.facts import CANNOT_TELL, SKIP

CLASSES = ["cat", "dog"]
TRUTH = {f"item-{number}": CLASSES[number % 2] for number in range(40)}
QUESTIONS = [Question(id=name, row=0, name=name, round=1, rank=rank) for rank, name in enumerate(TRUTH)]


def _file(folder):
    path = folder / "labels.csv"
    path.write_text("id,label\n" + "".join(f"{name},{label}\n" for name, label in TRUTH.items()))
    return File(path, classes=CLASSES)


MAKERS = {
    "simulated": lambda _: Simulated(TRUTH, classes=CLASSES),
    "late": lambda _: Simulated(
        TRUTH, classes=CLASSES, delay=5, noise=0.2, skip=0.1, cannot_tell=0.1, seed=3
    ),
    "file": _file,
    "function": lambda _: Function(lambda question: TRUTH[question.id]),
    "mapping": lambda _: open_oracle(TRUTH, classes=CLASSES),
}


@pytest.fixture(params=MAKERS)
def oracle(request, tmp_path):
    return MAKERS[request.param](tmp_path)


def test_it_is_an_oracle(oracle):
    assert isinstance(oracle, Oracle)


def test_it_answers_nothing_that_was_not_asked(oracle):
    assert set(oracle.answer(QUESTIONS[:3])) <= {question.id for question in QUESTIONS[:3]}
    assert oracle.answer([]) == {}


def test_asked_again_about_what_is_open_it_answers_everything_in_the_end(oracle):
    told, calls = {}, 0
    while len(told) < len(QUESTIONS):
        told |= oracle.answer([question for question in QUESTIONS if question.id not in told])
        calls += 1
        assert calls <= 2 * len(QUESTIONS)
    assert all(answer in (*CLASSES, SKIP, CANNOT_TELL) for answer in told.values())
    right = sum(told[name] == label for name, label in TRUTH.items())
    assert right > len(TRUTH) / 2
