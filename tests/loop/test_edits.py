"""What people change while a run goes on reaches its training."""

import shutil

import pytest
from small_run import CLASSES, LABELS, TRUTH, learner, ledger, network, outcome

from askwise.errors import InputError, SlowPathWarning
from askwise.loop.decide import Wait
from askwise.store import CANNOT_TELL
from askwise.store.contract import Places
from askwise.store.facts import Policy, Resolution, Restored, Round
from askwise.store.sql import SqlStore


def told(run, annotator: str = "") -> list[str]:
    """The items of one round of questions, answered by the truth."""
    questions = run.ask()
    run.tell({one.id: TRUTH[one.id] for one in questions}, annotator=annotator)
    return [one.id for one in questions]


def test_a_merged_class_is_trained_on_as_the_other_as_if_everybody_had_said_so(folder):
    words = {"red": "red", "green": "red", "blue": "blue"}
    with learner(folder / "merged.db", test=None) as run:
        told(run)
        run.ask()  # a model of the classes as they were
        assert set(ledger(run).labels.values()) == {0, 1}
        run.merge("green", into="red")
        assert set(ledger(run).labels.values()) == {0}
        told(run)
        run.ask()
        merged = run.rounds()
    with learner(folder / "corrected.db", test=None) as run:
        told(run)
        run.ask()
        run.tell({name: "red" for name, label in ledger(run).labels.items() if label == 1})
        run.tell({one.id: words[TRUTH[one.id]] for one in run.ask()})
        run.ask()
        corrected = run.rounds()
    assert [one.weights for one in merged] == [one.weights for one in corrected]
    assert len({one.weights for one in merged}) == len(merged) == 2


def test_items_of_a_retired_class_are_asked_again_and_nobody_may_say_it(folder):
    with learner(folder / "run.db") as run:
        told(run)
        told(run)
        gone = {name for name, label in ledger(run).labels.items() if label == 1}
        run.retire("green")
        now = run.status().counts
        assert (now.labelled, now.items) == (7 - len(gone), 40)
        assert not gone & ledger(run).labels.keys()
        with pytest.raises(InputError, match="'green', a class that is no longer in use; say another"):
            run.tell({min(gone): "green"})
        with pytest.raises(InputError, match="cannot retire the class 'green': it is no longer in use"):
            run.retire("green")
        run.ask()
        kept = sum(label != 1 for label in LABELS[40:])
        assert sum(sum(row) for row in run.rounds()[-1].metrics["test"]["confusion"]) == kept
    with learner(folder / "run.db") as run:
        assert run.status().counts.labelled == 7 - len(gone)


def test_items_of_a_split_class_are_asked_again_about_its_parts(folder):
    with learner(folder / "run.db") as run:
        told(run)
        name = next(name for name, label in ledger(run).labels.items() if label == 1)
        run.split("green", into=["red", "blue"])
        with pytest.raises(InputError, match="no longer in use; say one of: red, blue"):
            run.tell({name: "green"})
        run.tell({name: "red"})
        assert ledger(run).labels[name] == 0


def test_a_model_lost_after_a_merge_is_trained_again_from_the_labels_of_its_time(folder):
    path = folder / "run.db"
    with learner(path) as run:
        told(run)
        run.ask()
        [first] = run.rounds()
        run.merge("green", into="red")
    shutil.rmtree(folder / "run.db.checkpoints")
    with learner(path) as run, pytest.warns(SlowPathWarning, match="the same to the bit"):
        assert run.fitted.digest() == first.weights


def test_the_majority_of_the_annotators_is_trained_on(folder):
    with learner(folder / "run.db", policy="majority", needed=3, budget=4, initial=4) as run:
        questions = run.ask()
        for who, shift in (("ann", 0), ("ben", 1), ("eve", 0)):
            assert run.status().counts.labelled == 0
            words = {one.id: CLASSES[(CLASSES.index(TRUTH[one.id]) + shift) % 3] for one in questions}
            run.tell(words, annotator=who)
        assert {name: CLASSES[label] for name, label in ledger(run).labels.items()} == {
            one.id: TRUTH[one.id] for one in questions
        }
        assert [fact.policy for fact in run.store.facts(Policy)] == ["majority"]
        assert run.ask() == []
        assert [one.labels for one in run.rounds()] == [4]


def test_one_oracle_is_not_asked_for_ever_where_several_answers_are_wanted(folder):
    with learner(folder / "run.db", policy="majority", needed=2) as run:
        assert run.run(oracle=TRUTH) == Wait(4)


def test_under_a_resolver_only_his_word_is_a_label(folder):
    with learner(folder / "run.db", policy="resolver", budget=4) as run:
        names = told(run, annotator="ann")
        assert run.store.places() == Places(open=4)
        words = run.resolve({name: TRUTH[name] for name in names[:3]}, annotator="eve", note="seen")
        assert [(one.annotator, len(one.answers), one.note) for one in words] == [("eve", 1, "seen")] * 3
        run.resolve({names[3]: CANNOT_TELL})
        assert run.store.places() == Places(labelled=3, skipped=1)
        assert run.store.facts(Resolution)[:3] == words
        run.ask()
        assert [one.labels for one in run.rounds()] == [3]


def test_a_policy_may_change_and_comes_with_the_plan(folder):
    with learner(folder / "run.db") as run:
        told(run)
    with learner(folder / "run.db", policy="resolver") as run:
        assert run.store.places() == Places(open=4)
    with learner(folder / "run.db") as run:
        assert run.store.places() == Places(labelled=4)
        assert [fact.policy for fact in run.store.facts(Policy)] == ["resolver", "latest"]


def test_a_lost_model_that_comes_out_otherwise_is_kept_under_its_own_name(folder, recwarn):
    def moved():
        other = network()
        other[0].weight.data += 1
        return other

    path = folder / "run.db"
    with learner(path, start="given") as run:
        told(run)
        run.ask()
    before = outcome(path)
    shutil.rmtree(folder / "run.db.checkpoints")
    with learner(path, start="given", network=moved()) as run:
        with pytest.warns(SlowPathWarning, match="its weights differ"):
            again = run.fitted.digest()
        assert again != run.rounds()[-1].weights
    store = SqlStore(path, access="read")
    [fact] = store.facts(Restored)
    assert (fact.round, fact.weights) == (store.facts(Round)[-1].number, again)
    store.close()
    recwarn.clear()
    with learner(path, start="given", network=moved()) as run:
        assert run.fitted.digest() == again
    assert not [one for one in recwarn if issubclass(one.category, SlowPathWarning)]
    assert outcome(path) == before
