"""The model that is handed over: calibrated on test answers, which still say how good its classes are."""

import pytest
import task_runs
import torch
from small_run import CLASSES, HELD, learner, pool
from test_testing import CLOUD, NAMES, TESTED, TOLD, cloud

import askwise as aw
from askwise.errors import InputError
from askwise.loop.calibration import LEAST, TEST_ANSWERS, VALIDATION_LABELS, noted
from askwise.loop.decide import Train
from askwise.loop.models import handed_over, latest
from askwise.loop.perform import _take_snapshot, train_round
from askwise.store.facts import Certificate, Question

X = torch.from_numpy(CLOUD)


def modal(store=None, **changes):
    return cloud(store, **{"posterior": "modal", **changes})


def finished(run):
    run.run(oracle=TOLD)
    return run


def test_a_model_is_calibrated_on_its_test_answers_as_soon_as_there_are_ten():
    with modal() as run:
        counts = []
        run.run(
            oracle=TOLD,
            on_action=lambda act: isinstance(act, Train) and counts.append(run.status().counts.tested),
        )
        told = [noted(one) for one in run.rounds()]
        assert [None if one is None else one.labels for one in told] == [
            count if count >= LEAST else None for count in counts
        ]
        assert min(counts) < LEAST <= max(counts)
        tested = {one.id: one.label for one in run.setting.testing().tested()}
        tested = dict(list(tested.items())[: told[-1].labels])
        data = X[[NAMES.index(name) for name in tested]], torch.tensor(list(tested.values()))
        _, bare = latest(run.setting)
        wanted = aw.calibrate(bare, data, draws=1).temperature
        assert (told[-1].temperature, told[-1].by) == (wanted, TEST_ANSWERS)
        assert (bare.temperature, run.fitted.temperature) == (1.0, wanted)


def test_the_temperature_changes_every_probability_and_no_class():
    with finished(modal()) as run:
        (_, bare), (_, handed) = latest(run.setting), handed_over(run.setting)
        plain, shown = aw.predict(bare, X, draws=8), run.predict(X)
        assert torch.equal(plain.mean.argmax(dim=1), shown.mean.argmax(dim=1))
        assert not torch.allclose(plain.mean, shown.mean, rtol=1e-3)
        assert torch.equal(aw.predict(handed, X, draws=8).mean, shown.mean)


def test_what_test_answers_promise_rests_on_the_model_before_its_temperature():
    with finished(modal()) as run:
        (_, bare), (_, handed) = latest(run.setting), handed_over(run.setting)
        items = run.rounds()[-1].metrics["testing"]["items"]
        x = X[[NAMES.index(name) for name in items]]
        noted_doubt = torch.tensor([doubt for _, doubt in items.values()])
        without, with_ = (1 - aw.predict(model, x, draws=1).mean.amax(dim=1) for model in (bare, handed))
        assert torch.allclose(noted_doubt, without, atol=1e-6)
        assert not torch.allclose(noted_doubt, with_, atol=1e-3)  # the control


def test_without_calibration_the_same_is_asked_banded_and_estimated():
    with finished(modal()) as run, finished(modal(calibrate=False)) as plain:
        assert run.fitted.temperature != plain.fitted.temperature == 1.0
        asked = [[fact.id for fact in one.store.facts(Question)] for one in (run, plain)]
        assert asked[0] == asked[1]
        assert [one.weights for one in run.rounds()] == [one.weights for one in plain.rounds()]
        assert run.status().quality == plain.status().quality
        assert run.estimate("red") == plain.estimate("red")


def test_a_round_that_was_interrupted_takes_the_test_answers_of_its_snapshot(folder):
    temperatures = []
    for more in (False, True):
        with modal(folder / f"{more}.db") as run:
            finished(run)
            _take_snapshot(run.setting, run.setting.number + 1)
            if more:
                questions = run.ask_tests(8)
                run.tell({one.id: CLASSES[0] for one in questions})
                assert run.status().counts.tested > 8
            train_round(run.setting)
            temperatures.append(noted(run.rounds()[-1]))
            if more:  # the control: the next round takes them
                train_round(run.setting)
                assert noted(run.rounds()[-1]).labels > temperatures[-1].labels
    assert temperatures[0] == temperatures[1]


def test_a_reopened_run_hands_over_the_same_bits(folder):
    with finished(modal(folder / "run.db")) as run:
        before = run.fitted.digest(), run.predict(X).mean
    with modal(folder / "run.db") as run:
        assert run.fitted.digest() == before[0]
        assert torch.equal(run.predict(X).mean, before[1])


def test_under_several_draws_a_temperature_could_change_classes_so_test_answers_choose_none():
    with finished(modal(posterior=aw.bbb(last=1))) as run:
        assert run.status().counts.tested >= LEAST
        assert [noted(one) for one in run.rounds()] == [None] * len(run.rounds())


def test_validation_data_choose_the_temperature_where_there_are_any():
    with finished(modal(validation=HELD)) as run:
        told = noted(run.rounds()[-1])
        assert (told.by, told.labels) == (VALIDATION_LABELS, len(HELD[1]))
        assert told.temperature == latest(run.setting)[1].temperature == run.fitted.temperature != 1


def test_skipped_test_answers_choose_nothing():
    with modal() as run:
        kept = run.setting.testing()
        while questions := run.ask():
            run.tell({q.id: aw.SKIP if q.id in kept else TOLD[q.id] for q in questions})
        assert run.status().counts.skipped >= LEAST
        assert run.fitted.temperature == 1


def test_the_last_model_of_all_answers_keeps_the_temperature_from_before_it():
    with finished(modal()) as run:
        model, answers, _ = run.finish()
        assert answers > run.rounds()[-1].labels
        assert model.temperature == run.fitted.temperature != 1


def test_the_labels_that_are_certified_are_those_of_the_model_that_is_handed_over():
    with finished(modal()) as run:
        found = run.certify(error=0.3, checks=100, oracle=TOLD)
        assert found.labels
        mean = run.predict(X[[NAMES.index(name) for name in found.labels]]).mean
        assert mean.argmax(dim=1).tolist() == list(found.labels.values())
        [kept] = run.store.facts(Certificate)
        assert kept.statement["round"] == run.rounds()[-1].number


def test_tags_are_tempered_and_stay_what_they_are():
    changes = {"test": None, "testing": 0.45, "region": 0.5, "budget": 30, "posterior": "modal"}
    with task_runs.learner("multilabel", **changes) as run:
        run.run(oracle=task_runs.TRUTH["multilabel"])
        assert noted(run.rounds()[-1]).by == TEST_ANSWERS
        _, bare = latest(run.setting)
        before, after = (
            aw.predict(model, task_runs.ROWS, draws=5).mean.argmax(dim=-1) for model in (bare, run.fitted)
        )
        assert torch.equal(before, after)
        assert run.fitted.temperature != 1


@pytest.mark.parametrize("threshold", [0.2, 0.5])
def test_the_tags_that_are_banded_are_those_that_are_shown(threshold):
    changes = {"test": None, "testing": 0.45, "region": 0.5, "budget": 30, "posterior": "modal"}
    task = aw.tasks.multilabel(threshold=threshold)
    with task_runs.learner("multilabel", task=task, **changes) as run:
        run.run(oracle=task_runs.TRUTH["multilabel"])
        items, tested = run.rounds()[-1].metrics["testing"]["items"], run.setting.testing().tested()
        rows = [task_runs.IDS.index(name) for name in items]
        assert len(tested) >= LEAST
        (_, bare), (_, handed) = latest(run.setting), handed_over(run.setting)
        chances = aw.predict(bare, task_runs.ROWS[rows], draws=1).mean[..., 1]
        shown = aw.predict(handed, task_runs.ROWS[rows], draws=1).mean[..., 1] > threshold
        assert [said for said, _ in items.values()] == shown.tolist()
        doubt = torch.tensor([found for _, found in items.values()], dtype=torch.float64)
        assert torch.allclose(doubt, torch.where(shown, 1 - chances, chances).double(), atol=1e-6)
        assert (handed.temperature == 1) == (threshold != 0.5)
        right = torch.stack([shown[list(items).index(one.id)] for one in tested if one.id in items])
        truth = task_runs.LABELS["multilabel"][[task_runs.IDS.index(one.id) for one in tested]] == 1
        shares = (right == truth).double().mean(dim=0)
        assert [one.share for one in run.status().quality.tags.values()] == pytest.approx(shares.tolist())


def test_calibrate_wants_validation_data_or_test_questions():
    with pytest.raises(InputError, match="calibrate needs validation data or test questions"):
        learner(pool=pool(), calibrate=True)
    with learner(**TESTED, calibrate=True) as run:
        assert run.status().plan.calibrate
