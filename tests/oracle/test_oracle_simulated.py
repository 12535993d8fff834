import pytest

from askwise.errors import InputError
from askwise.oracle import Question, Simulated
from askwise.store.facts import CANNOT_TELL, SKIP

TRUTH = {f"item-{number}": number % 4 for number in range(2000)}
QUESTIONS = [Question(id=name, row=0, name=name, round=0, rank=0) for name in TRUTH]


def test_without_faults_it_tells_the_truth():
    assert Simulated(TRUTH, classes=4).answer(QUESTIONS) == {
        name: str(label) for name, label in TRUTH.items()
    }


def test_faults_are_as_frequent_as_asked_and_functions_of_seed_and_id():
    oracle = Simulated(TRUTH, classes=4, noise=0.25, skip=0.1, cannot_tell=0.05, seed=1)
    told = oracle.answer(QUESTIONS)
    wrong = sum(isinstance(told[name], str) and told[name] != str(label) for name, label in TRUTH.items())
    assert abs(wrong / 1700 - 0.25) < 0.04
    assert abs(sum(answer is SKIP for answer in told.values()) / 2000 - 0.1) < 0.03
    assert abs(sum(answer is CANNOT_TELL for answer in told.values()) / 2000 - 0.05) < 0.02
    again = Simulated(TRUTH, classes=4, noise=0.25, skip=0.1, cannot_tell=0.05, seed=1)
    assert {**again.answer(QUESTIONS[1000:]), **again.answer(QUESTIONS[:1000])} == told
    assert Simulated(TRUTH, classes=4, noise=0.25, seed=2).answer(QUESTIONS) != told


def test_delays_are_counted_in_calls_and_spread():
    oracle = Simulated(TRUTH, classes=4, delay=3)
    left, arrived = list(QUESTIONS), []
    while left:
        told = oracle.answer(left)
        arrived.append(len(told))
        left = [question for question in left if question.id not in told]
    assert len(arrived) == 4
    assert min(arrived) > 300


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": 1.5}, "noise is a fraction from 0 to 1, not 1.5"),
        ({"skip": 0.6, "cannot_tell": 0.6}, "must not exceed 1 together"),
        ({"delay": -1}, "delay is a number of calls"),
    ],
)
def test_impossible_faults_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Simulated(TRUTH, classes=4, **options)


def test_an_item_without_a_label_stays_open():
    questions = [Question(id=name, row=0, name=name, round=0, rank=0) for name in ("x", "y")]
    assert Simulated({"y": 1}, classes=2).answer(questions) == {"y": "1"}
