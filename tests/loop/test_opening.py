"""A store meets a plan, a pool and a network that may have changed."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from small_run import CLASSES, IDS, LABELS, POINTS, TRUTH, learner, ledger, pool
from torch import nn

from askwise.errors import InputError
from askwise.loop.status import status
from askwise.pool import arrays
from askwise.store.sql import SqlStore


def test_a_pool_grows_while_it_runs_and_missing_items_are_quarantined_until_they_return(folder):
    with learner(folder / "run.db", pool=pool(POINTS[:20], IDS[:20])) as run:
        run.ask()
        assert run.add(arrays(POINTS[20:30], ids=IDS[20:30])) == IDS[20:30]
        assert run.status().counts.items == 30
    with learner(folder / "run.db", pool=pool(POINTS[5:40], IDS[5:40])) as run:
        assert set(ledger(run).quarantined) == set(IDS[:5])
        assert run.status().counts.items == 40
    with learner(folder / "run.db") as run:
        assert not ledger(run).quarantined
        assert run.status().counts.items == 40


def test_what_a_learner_takes_as_its_pool_can_be_added_and_rows_may_be_numpys(folder):
    with learner(folder / "run.db", pool=arrays(POINTS[:20])) as run:
        question = next(one for one in run.ask() if one.row is not None)
        run.tell({np.int64(question.row): TRUTH[IDS[question.row]]})
        assert set(ledger(run).labels) == {question.id}
        assert len(run.add(torch.as_tensor(POINTS[20:25]))) == 5
        assert len(run.add(POINTS[20:30])) == 5  # an array, of which five items are there already
        assert run.status().counts.items == 30


def test_a_run_that_is_opened_again_reads_neither_the_ids_nor_the_history(folder, monkeypatch):
    with learner(folder / "run.db") as run:
        run.tell({one.id: TRUTH[one.id] for one in run.ask()})
        questions = run.ask()
    listed = []
    monkeypatch.setattr(SqlStore, "ids", lambda _: listed.append(1) or iter(()))
    with learner(folder / "run.db") as run:
        assert run.status().counts.labelled == 4
        assert [one.labels for one in run.rounds()] == [4]
        assert (listed, run.setting.ledger.folded) == ([], False)
        assert run.ask() == questions
        assert run.setting.ledger.folded
    monkeypatch.undo()
    grown = []
    ids = SqlStore.ids
    monkeypatch.setattr(SqlStore, "ids", lambda store: grown.append(1) or ids(store))
    with learner(folder / "run.db", pool=pool(POINTS[:39], IDS[:39])) as run:  # control
        assert grown
        assert set(ledger(run).quarantined) == {IDS[39]}


def test_a_pool_that_grew_behind_the_learners_back_is_taken_in():
    items = pool(POINTS[:6], IDS[:6])
    run = learner(pool=items)
    run.ask()
    items.add(arrays(POINTS[6:20], ids=IDS[6:20]))
    run.tell({IDS[19]: "red"})
    assert run.status().counts.items == 20
    items.add(arrays(POINTS[20:30], ids=IDS[20:30]))
    run.run(oracle=TRUTH)
    assert run.status().counts.items == 30


def test_an_item_that_may_have_been_asked_cannot_be_held_out_later(folder):
    learner(folder / "run.db").close()
    with pytest.raises(InputError, match=f"item '{IDS[3]}' is in store .* already, so it cannot be held out"):
        learner(folder / "run.db", test={IDS[3]: "red"})
    learner(folder / "run.db").close()


def test_a_status_can_be_read_from_the_store_alone(folder):
    with learner(folder / "run.db") as run:
        run.ask()
        own = run.status()
        reader = SqlStore(folder / "run.db", access="read")
        assert status(reader) == own
        reader.close()
    assert own.next == "wait for 4 answers"


def test_a_larger_budget_goes_on_and_a_new_class_may_be_added_at_the_end(folder):
    with learner(folder / "run.db") as run:
        run.run(oracle=TRUTH)
    wider = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 4))
    more = {"network": wider, "classes": [*CLASSES, "grey"], "budget": 13, "select": "top_k"}
    with learner(folder / "run.db", **more) as run:
        run.tell({next(iter(ledger(run).labels)): "grey"})
        run.run(oracle=TRUTH)
        assert run.rounds()[-1].labels == 13
        assert run.status().plan.budget == 13


def test_a_model_of_another_network_is_trained_anew_before_it_is_asked(folder):
    with learner(folder / "run.db", budget=7) as run:
        run.run(oracle=TRUTH)
    wider = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    with learner(folder / "run.db", network=wider) as run:
        assert run.status().next == "train on 7 labels"
        run.run(oracle=TRUTH)
        assert [found.labels for found in run.rounds()] == [4, 7, 7, 10]


def test_a_renamed_class_keeps_its_labels(folder):
    with learner(folder / "run.db") as run:
        name = run.ask()[0].id
        run.tell({name: "green"})
        run.rename("green", "lime")
        assert run.tell({name: "lime"})[0].label == 1
        with pytest.raises(InputError, match="'green', which is no class"):
            run.tell({name: "green"})
        with pytest.raises(InputError, match="there is a class 'red' already"):
            run.rename("lime", "red")
    with pytest.raises(InputError, match="has the classes red, lime, blue"):
        learner(folder / "run.db")
    with learner(folder / "run.db", classes=["red", "lime", "blue"], test=None) as run:
        assert ledger(run).labels == {name: 1}


BAD = {
    "unknown choice": ({"bach": 3}, "unknown option of Learner 'bach'; did you mean 'batch'"),
    "unknown acquisition": ({"acquire": "bold"}, "unknown acquisition 'bold'; did you mean 'bald'"),
    "unknown posterior": ({"posterior": {"name": "bbc"}}, "unknown posterior 'bbc'; did you mean 'bbb'"),
    "option of a posterior": ({"posterior": {"name": "bbb", "lost": 1}}, "unknown option of posterior 'bbb'"),
    "not a posterior": ({"posterior": 3}, "posterior must be a name or one of"),
    "option of training": ({"training": {"epoch": 1}}, "unknown option of training 'epoch'; did you mean"),
    "not a training": ({"training": 3}, "training is a Training or a table"),
    "epochs": ({"training": {"epochs": 0}}, "epochs must be a whole number of at least 1"),
    "batch": ({"batch": 0}, "batch in the plan"),
    "draws": ({"draws": 0}, "draws in the plan"),
    "option of a score": ({"acquire": "top_u", "acquire_options": {"v": 2}}, "unknown option of acquisition"),
    "option of a selection": ({"select_options": {"beta": 2}}, "selection 'top_k' takes no options"),
    "seed": ({"seed": "abc"}, "seed in the plan"),
    "one class": ({"classes": ["red"]}, "at least two classes"),
    "outputs": ({"classes": ["red", "green"]}, "the network has 3 outputs, and there are 2 classes"),
    "shape": ({"pool": np.zeros((5, 7), np.float32)}, r"the network cannot take an input of shape \[1, 7\]"),
    "initial item": ({"initial": {"nobody": "red"}}, "initial names the item 'nobody', which the pool"),
    "initial ids": ({"initial": ["nobody"]}, "initial names the item 'nobody'"),
    "initial label": ({"initial": {IDS[0]: "rde"}}, "the label of 'point-00' is 'rde'.*did you mean 'red'"),
    "empty initial": ({"initial": {}}, "initial is empty; leave it out"),
    "lengths": ({"test": (POINTS[:3], ["red"])}, "test has 3 inputs and 1 labels"),
    "test label": ({"test": (POINTS[:1], ["pink"])}, "a test label is 'pink', which is no class"),
    "complex label": ({"test": (POINTS[:1], [1j])}, "a test label must be a class name or number, not 1j"),
    "test kind": ({"test": POINTS}, "test is inputs with labels"),
    "test item": ({"test": {"nobody": "red"}}, "test names the item 'nobody'"),
    "test text": ({"test": (["a"], ["red"])}, "test inputs must be an array of numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_line_before_anything_is_stored(folder, case):
    changes, message = BAD[case]
    with pytest.raises(InputError, match=message) as caught:
        learner(folder / "run.db", **changes)
    assert "\n" not in str(caught.value)
    learner(folder / "run.db").close()  # neither locked nor spoilt


def test_a_store_of_other_data_or_classes_is_refused(folder):
    learner(folder / "run.db").close()
    with pytest.raises(InputError, match="has 40 items and none of them is in this pool"):
        learner(folder / "run.db", pool=arrays(POINTS[:9]))
    with pytest.raises(InputError, match="has the classes red, green, blue, and the plan blue, green, red"):
        learner(folder / "run.db", classes=CLASSES[::-1])


def test_a_run_of_the_first_askwise_goes_on(folder):
    old = Path(__file__).parents[1] / "store" / "version1"
    shutil.copytree(old, folder / "old")
    reader = SqlStore(folder / "old" / "run.db", access="read")
    before = status(reader)
    reader.close()
    names = ["crimson", *CLASSES[1:]]
    test = (POINTS[40:], [names[label] for label in LABELS[40:]])
    with learner(folder / "old" / "run.db", classes=names, test=test) as run:
        assert run.status().counts == before.counts
        assert len(run.ask()) == 2
        run.run(oracle={name: LABELS[IDS.index(name)] for name in IDS})
        assert [found.labels for found in run.rounds()][-1] == 10
