"""The decision as a table."""

import pytest

from askwise.loop.decide import Ask, Counts, Stop, Train, Wait, decide
from askwise.loop.plan import make

SPENT = Stop("the budget of 20 labels is spent")
EMPTY = Stop("every item is labelled, skipped or quarantined")


def plan(**changes):
    return make({"classes": 2, "batch": 5, "budget": 20, "initial": 8} | changes)


BATCHES = {
    "nothing known: ask the initial questions": (Counts(unlabelled=100), Ask(8)),
    "initial questions open: wait": (Counts(unlabelled=92, open=8), Wait(8)),
    "some answered, others open: wait": (Counts(unlabelled=92, open=3, labelled=5, unseen=5), Wait(3)),
    "all answered: train": (Counts(unlabelled=92, labelled=8, unseen=8), Train()),
    "trained: ask a batch": (Counts(unlabelled=92, labelled=8, rounds=1), Ask(5)),
    "some skipped: train on the rest": (Counts(unlabelled=92, labelled=6, skipped=2, unseen=6), Train()),
    "all initial ones skipped: ask as many again": (Counts(unlabelled=92, skipped=8), Ask(8)),
    "a whole batch skipped: ask the next": (Counts(unlabelled=87, labelled=8, skipped=5, rounds=1), Ask(5)),
    "less budget left than a batch: ask what is left": (
        Counts(unlabelled=82, labelled=18, rounds=3),
        Ask(2),
    ),
    "budget spent, last answers unseen: train": (
        Counts(unlabelled=80, labelled=20, unseen=2, rounds=3),
        Train(),
    ),
    "budget spent and seen: stop": (Counts(unlabelled=80, labelled=20, rounds=4), SPENT),
    "over the budget: stop": (Counts(unlabelled=79, labelled=21, rounds=4), SPENT),
    "correction between batches: train": (Counts(unlabelled=92, labelled=8, unseen=1, rounds=1), Train()),
    "correction with questions open: first the answers": (
        Counts(unlabelled=87, open=5, labelled=8, unseen=1, rounds=1),
        Wait(5),
    ),
    "correction after the end: train": (Counts(unlabelled=80, labelled=20, unseen=1, rounds=4), Train()),
    "a label taken back: train on the others": (
        Counts(unlabelled=92, labelled=7, skipped=1, unseen=1, rounds=1),
        Train(),
    ),
    "every label taken back: ask, there is nothing to train on": (
        Counts(unlabelled=92, skipped=8, unseen=8, rounds=1),
        Ask(5),
    ),
    "pool smaller than a batch: ask what there is": (Counts(unlabelled=3, labelled=8, rounds=1), Ask(3)),
    "pool exhausted: stop": (Counts(labelled=8, quarantined=2, rounds=1), EMPTY),
    "pool exhausted, questions open: wait": (Counts(open=2, labelled=8, rounds=1), Wait(2)),
    "everything skipped: stop": (Counts(skipped=10), EMPTY),
    "everything quarantined: stop": (Counts(quarantined=10), EMPTY),
}

EAGER = {
    "one answer: train at once, questions stay open": (
        Counts(unlabelled=92, open=7, labelled=1, unseen=1),
        Train(),
    ),
    "nothing unseen, many open: wait": (Counts(unlabelled=92, open=7, labelled=1, rounds=1), Wait(7)),
    "few open: ask more": (Counts(unlabelled=92, open=2, labelled=6, rounds=6), Ask(5)),
    "few open, but the budget is given out: wait": (
        Counts(unlabelled=80, open=2, labelled=18, rounds=9),
        Wait(2),
    ),
    "few open, some budget: ask no more than is left": (
        Counts(unlabelled=80, open=2, labelled=15, rounds=9),
        Ask(3),
    ),
    "few open, pool exhausted: wait": (Counts(open=1, labelled=5, rounds=5), Wait(1)),
}


@pytest.mark.parametrize("case", BATCHES)
def test_rounds_of_batches_as_in_the_papers(case):
    progress, action = BATCHES[case]
    assert decide(plan(), progress) == action


@pytest.mark.parametrize("case", EAGER)
def test_training_after_each_answer_with_questions_open(case):
    progress, action = EAGER[case]
    assert decide(plan(retrain_after=1, refill_at=2), progress) == action


def test_without_initial_items_the_first_questions_are_a_batch():
    assert decide(plan(initial=0), Counts(unlabelled=100)) == Ask(5)


def test_the_places_of_all_items_add_up():
    assert Counts(unlabelled=1, open=2, labelled=3, skipped=4, quarantined=5, unseen=3, rounds=9).items == 15
