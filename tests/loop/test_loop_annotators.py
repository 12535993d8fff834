"""What is said of the people who answer: nothing until they share enough items."""

import pytest
import torch

import askwise as aw
from askwise.seeding import generator
from askwise.store.facts import Answer

ROWS = 40


def told(learner, who, count, *, wrong=0):
    """Somebody answers so many items, the first of them wrongly."""
    for row in range(count):
        learner.tell({row: (row + (row < wrong)) % 2}, annotator=who)


@pytest.fixture
def learner():
    x = torch.randn(ROWS, 3, generator=generator(0, "annotators"))
    network = torch.nn.Linear(3, 2)
    with aw.Learner(network, pool=x, classes=["no", "yes"], seed=0, draws=2) as ours:
        yield ours


def test_two_shared_items_say_nothing_of_anybody(learner):
    told(learner, "ann", ROWS)
    told(learner, "bob", 2, wrong=2)
    assert learner.annotators() is None


def test_twenty_shared_items_of_two_classes_tell_who_errs(learner):
    told(learner, "ann", ROWS)
    told(learner, "cid", 30)
    told(learner, "bob", 20, wrong=8)
    people, found = learner.annotators()
    accuracy = dict(zip(people, found.accuracy.tolist(), strict=True))
    assert accuracy["bob"] < 0.75 < accuracy["cid"]
    assert found.truth.shape[0] == 30  # what one alone has answered is left out


def test_who_shares_too_few_is_left_out_and_the_others_are_not(learner):
    told(learner, "ann", ROWS)
    told(learner, "bob", 25)
    told(learner, "eve", 3, wrong=3)
    people, _ = learner.annotators()
    assert people == ["ann", "bob"]
    assert "eve" in {one.annotator for one in learner.store.facts(Answer)}
