"""Initial, validation and test data."""

import pytest
from small_run import CLASSES, IDS, LABELS, POINTS, TRUTH, learner

from askwise.errors import InputError


def test_initial_labels_may_be_a_number_ids_labels_or_data():
    assert len(learner(initial=5).ask()) == 5
    assert {question.id for question in learner(initial=IDS[3:6]).ask()} == set(IDS[3:6])
    by_id = learner(initial={name: TRUTH[name] for name in IDS[:6]})
    assert {question.round for question in by_id.ask()} == {1}
    assert by_id.status().progress.labelled == 6
    data = learner(initial=(POINTS[40:45], [CLASSES[label] for label in LABELS[40:45]]))
    data.ask()
    assert (data.rounds()[0].labels, data.status().progress.items) == (5, 45)
    assert data.status().plan.initial.count == 5


def test_initial_labels_told_again_at_a_restart_do_not_undo_a_correction(folder):
    initial = dict.fromkeys(IDS[:4], "red")
    with learner(folder / "run.db", initial=initial) as run:
        run.tell({IDS[0]: "blue"})
    with learner(folder / "run.db", initial=initial) as run:
        assert run._setting.ledger.labels[IDS[0]] == 2


def test_validation_and_test_items_are_measured_and_never_asked():
    held = {name: TRUTH[name] for name in IDS[:10]}
    run = learner(validation=held, budget=30)
    run.run(oracle=TRUTH)
    assert run.status().progress.items == 30
    assert set(run.rounds()[-1].metrics) == {"validation", "test"}
    assert not held.keys() & run._setting.ledger.labels.keys()
    with pytest.raises(InputError, match="is held out for validation or test"):
        run.tell({IDS[0]: "red"})
