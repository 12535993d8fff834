"""The learner as a user meets it."""

import pytest
import torch
from small_run import CLASSES, FAST, IDS, POINTS, POSTERIORS, TRUTH, learner, ledger, network, outcome, pool
from torch.utils.data import TensorDataset

from askwise.errors import InputError
from askwise.loop.decide import Stop, Wait
from askwise.loop.learner import Learner
from askwise.oracle import Simulated
from askwise.oracle.function import OracleError
from askwise.store.facts import SKIP


def answers(questions):
    return {question.id: TRUTH[question.id] for question in questions}


def test_ask_tell_predict():
    run = learner()
    first = run.ask()
    assert len(first) == 4
    assert [question.id for question in run.ask()] == [question.id for question in first]
    run.tell(answers(first[:1]))
    assert [question.id for question in run.ask()] == [question.id for question in first[1:]]
    run.tell(answers(first[1:]))
    second = run.ask()
    assert len(second) == 3
    assert {question.round for question in second} == {1}
    assert [question.score for question in second] == sorted((q.score for q in second), reverse=True)
    found = run.predict(torch.from_numpy(POINTS[40:]))
    assert found.mean.shape == (20, 3)
    assert torch.allclose(found.total, found.epistemic + found.aleatoric, atol=1e-5)


def test_a_run_ends_with_the_budget_and_its_last_model_has_seen_every_label():
    run = learner()
    assert run.run(oracle=TRUTH) == Stop("the budget of 10 labels is spent")
    last = run.rounds()[-1]
    assert last.labels == 10
    assert set(last.metrics["test"]) >= {"accuracy", "nll", "ece", "brier"}
    assert set(last.seconds) == {"read", "train", "save", "measure"}
    assert run.status().next == "stop: the budget of 10 labels is spent"
    assert run.ask() == []


def test_progress_is_told_of_every_action():
    seen = []
    learner().run(oracle=TRUTH, on_action=lambda action: seen.append(type(action).__name__))
    assert seen == [*["Ask", "Wait", "Train"] * 3, "Stop"]


def test_a_late_oracle_is_waited_for_and_one_without_answers_is_not_for_ever():
    late = Simulated(TRUTH, classes=CLASSES, delay=20, skip=0.2, noise=0.1)
    assert isinstance(learner().run(oracle=late), Stop)
    assert learner().run(oracle=lambda question: None) == Wait(4)


def test_an_oracle_that_skips_everything_empties_the_pool():
    run = learner()
    end = run.run(oracle=Simulated(TRUTH, classes=CLASSES, skip=1.0))
    assert end == Stop("every item is labelled, skipped or quarantined")
    assert run.status().counts.skipped == 40


def test_when_an_oracle_fails_its_earlier_answers_are_stored(folder):
    left = [6]

    def fails(question):
        left[0] -= 1
        if not left[0]:
            raise TimeoutError("no reply")
        return TRUTH[question.id]

    with learner(folder / "run.db") as run, pytest.raises(OracleError, match="TimeoutError: no reply"):
        run.run(oracle=fails)
    assert len(outcome(folder / "run.db")["answers"]) == 5


def test_a_plan_gives_its_choices_to_a_learner():
    own = learner(acquire="margin", posterior=POSTERIORS["mc_dropout"])
    plan = own.status().plan
    with Learner(network(), pool=pool(), plan=plan, initial=4) as again:
        assert again.status().plan.model_dump(exclude={"test"}) == plan.model_dump(exclude={"test"})
    with pytest.raises(InputError, match="the plan decides 'batch'; change it there"):
        Learner(network(), pool=pool(), plan=plan, batch=7)


def test_datasets_and_bare_arrays_are_pools():
    rows = torch.from_numpy(POINTS[:20])
    for items in (rows, POINTS[:20], TensorDataset(rows)):
        assert len(learner(pool=items).ask()) == 4


def test_predicting_before_the_first_round_says_what_to_do():
    with pytest.raises(InputError, match=r"there is no model yet; answer the questions of ask\(\) first"):
        learner().predict(torch.from_numpy(POINTS))


def test_the_given_network_is_left_as_it_was():
    own = network()
    before = {name: value.clone() for name, value in own.state_dict().items()}
    learner(network=own, training=FAST).run(oracle=TRUTH)
    assert all(value.equal(before[name]) for name, value in own.state_dict().items())


def test_labels_are_given_by_row_or_name_wherever_they_are_given_by_id():
    by_row = {row: TRUTH[name] for row, name in enumerate(IDS)}  # of more items than the pool has
    by_name = {f"x[{row}]": label for row, label in by_row.items()}
    whole = learner()
    whole.run(oracle=TRUTH)
    for oracle in (by_row, by_name):
        run = learner()
        assert isinstance(run.run(oracle=oracle), Stop)
        assert ledger(run).labels == ledger(whole).labels
    first = learner(initial={0: "red", "x[1]": "blue", IDS[2]: "green"}, test={39: "red"})
    assert ledger(first).labels == {IDS[0]: 0, IDS[1]: 2, IDS[2]: 1}
    assert first.setting.held == {IDS[39]}
    assert {q.id for q in learner(initial=[3, "x[4]", IDS[5]]).ask()} == set(IDS[3:6])
    balanced = {"per_class": 2, "labels": by_row}
    assert len(learner(initial=balanced).ask()) == 6
    with pytest.raises(InputError, match=r"no item '0' .a row is named by a number"):
        learner().run(oracle={"0": "red"})
    with pytest.raises(InputError, match="'point-00' is told twice, once as 0; tell it once"):
        learner().run(oracle={IDS[0]: "red", 0: "blue"})


def test_what_a_mapping_has_no_label_for_waits_as_with_a_file():
    run = learner()
    few = {question.id: TRUTH[question.id] for question in run.ask()[:1]}
    assert run.run(oracle=few) == Wait(3)
    assert run.status().counts.labelled == 1


def test_labels_are_listed_by_id_as_they_count_by_now():
    run = learner()
    first, second, third, *_ = run.ask()
    run.tell({first.id: "red", second.id: "blue", third.id: SKIP})
    run.tell({second.row: 1})
    assert run.labels() == {first.id: "red", second.id: "green"}
    assert learner(initial=run.labels()).labels() == run.labels()


@pytest.mark.parametrize("kind", ["int64", "bool"])
def test_whole_numbers_for_a_network_of_floats_are_refused_with_what_to_do(kind):
    with pytest.raises(InputError, match=r'if its items are no tokens, pass .astype\("float32"\)$'):
        learner(pool=(POINTS > 0).astype(kind))
