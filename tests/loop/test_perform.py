"""What training leaves behind, and what it does when something breaks."""

import numpy as np
import pytest
import torch
from small_run import CLASSES, HELD, IDS, POINTS, TRUTH, learner, ledger, pool
from torch import nn

from askwise.bayes.posteriors import POSTERIORS
from askwise.errors import InputError, TrainingError
from askwise.loop.decide import Stop
from askwise.store import SKIP
from askwise.store.facts import Snapshot


def answers(questions):
    return {question.id: TRUTH[question.id] for question in questions}


@pytest.mark.parametrize("name", POSTERIORS)
def test_every_posterior_runs(name):
    run = learner(posterior=POSTERIORS[name](), budget=7)
    assert isinstance(run.run(oracle=TRUTH), Stop)
    assert run.status().plan.posterior["name"] == name


def test_the_labels_are_written_down_before_they_are_trained_on(monkeypatch):
    run = learner()
    run.tell(answers(run.ask()))

    def no_training(*_, **__):
        raise RuntimeError("the power is gone")

    monkeypatch.setattr("askwise.loop.models.fit", no_training)
    with pytest.raises(RuntimeError):
        run.ask()
    [snapshot] = run.store.facts(Snapshot)
    assert (snapshot.round, snapshot.count) == (1, 4)
    monkeypatch.undo()
    run.tell(dict.fromkeys(list(ledger(run).labels)[:1], SKIP))
    run.ask()
    first, second = run.rounds()
    assert (first.labels, second.labels) == (4, 3)  # the interrupted round first, as it would have been


def test_a_labelled_item_that_goes_bad_is_left_out_of_training_and_its_label_is_kept():
    source = POINTS[:40].copy()
    run = learner(pool=pool(source))
    first = run.ask()
    run.tell(answers(first))
    source[IDS.index(first[0].id)] = np.nan
    run.ask()
    assert run.rounds()[0].labels == 3
    assert ledger(run).history(first[0].id)[0].label is not None
    source[IDS.index(first[0].id)] = 1.0
    assert run.retry() == [first[0].id]
    assert run.status().counts.labelled == 4


def test_labels_of_one_class_only_are_trained_on():
    run = learner(initial=dict.fromkeys(IDS[:5], "red"))
    assert len(run.ask()) == 3
    assert run.rounds()[0].labels == 5


def test_only_the_last_checkpoints_are_kept(folder):
    with learner(folder / "run.db", keep=1) as run:
        run.run(oracle=TRUTH)
        kept = sorted(path.name for path in (folder / "run.db.checkpoints").iterdir())
    assert kept == sorted(past.checkpoint for past in run.rounds()[-2:])


class Exploding(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)

    def forward(self, inputs):
        return self.head(inputs) * torch.where(inputs.sum() > 1e6, torch.nan, 1.0)


def test_a_loss_that_is_not_finite_stops_with_round_step_and_items_and_the_last_model_is_whole(folder):
    points = POINTS[:40].copy()
    huge = pool(points)
    with learner(folder / "run.db", pool=huge, network=Exploding()) as run:
        run.tell(answers(run.ask()))
        open_now = run.ask()
        points[IDS.index(open_now[0].id)] = 1e7
        run.tell(answers(open_now))
        with pytest.raises(TrainingError, match=r"round 2: the loss is not finite at step \d+ .*on items"):
            run.ask()
        assert len(run.rounds()) == 1
        run.setting.fitted.clear()
        assert run.predict(torch.from_numpy(POINTS[40:])).mean.isfinite().all()


def temperatures(run):
    run.run(oracle=TRUTH)
    return [past.metrics.get("calibration", {}).get("temperature") for past in run.rounds()]


def test_models_are_calibrated_where_there_are_validation_data_unless_told_not_to():
    used = temperatures(learner(validation=HELD, budget=7))
    assert len(used) == 2
    assert all(value > 0 and value != 1 for value in used)
    assert temperatures(learner(validation=HELD, budget=7, calibrate=True)) == used
    assert temperatures(learner(validation=HELD, budget=7, calibrate=False)) == [None, None]


def test_a_round_is_measured_and_its_model_kept_with_its_temperature(folder):
    rounds = {}
    for choice in (None, False):
        with learner(folder / f"{choice}.db", validation=HELD, budget=4, calibrate=choice) as run:
            run.run(oracle=TRUTH)
            [rounds[choice]] = run.rounds()
            run.setting.fitted.clear()
            kept = run.fitted
            assert kept.temperature == rounds[choice].metrics.get("calibration", {}).get("temperature", 1.0)
            found = run.predict(torch.from_numpy(POINTS[40:50]))
        truth = torch.tensor([CLASSES.index(label) for label in HELD[1]])
        nll = -found.mean.gather(1, truth[:, None]).log().mean().item()
        assert nll == pytest.approx(rounds[choice].metrics["validation"]["nll"], rel=1e-5)
    calibrated, plain = (rounds[choice].metrics for choice in (None, False))
    assert calibrated["validation"]["nll"] < plain["validation"]["nll"]
    assert calibrated["test"]["nll"] != plain["test"]["nll"]
    assert rounds[None].weights != rounds[False].weights


def test_calibration_without_validation_data_is_refused_before_anything_is_asked(folder):
    with pytest.raises(InputError, match="calibrate needs validation data"):
        learner(folder / "run.db", calibrate=True)
    assert not (folder / "run.db").exists()
