"""An audit counts what people say in the end, and its order is drawn once."""

from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import askwise as aw
from askwise.store.facts import Answer, Attempt, Question

CLASSES = ["left", "right"]


@contextmanager
def trained(**options: object):
    """A run on two heaps of points that are easy to tell apart, and the true classes by id."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    x = (np.eye(2)[labels] * 8 + rng.normal(size=(400, 2))).astype(np.float32)
    ids = [f"i{number:03d}" for number in range(400)]
    truth = {name: CLASSES[label] for name, label in zip(ids, labels, strict=True)}
    torch.manual_seed(0)
    with aw.Learner(
        nn.Sequential(nn.Linear(2, 2)),
        pool=aw.pool.arrays(x, ids=ids),
        classes=CLASSES,
        initial=20,
        batch=20,
        budget=60,
        draws=1,
        posterior="point",
        training=aw.Training(epochs=60, batch_size=16),
        **{"seed": 1, **options},
    ) as run:
        run.run(oracle=truth)
        yield run, truth


def say(
    run: aw.Learner, asked: tuple[Question, ...], truth: dict[str, str], *, verdict: str = "label"
) -> None:
    """Answer checks truthfully, or take the answers back."""
    run.store.answer(
        [
            Answer(
                id=one.id,
                key=f"{verdict}-{one.question}-{run.store.revision}",
                verdict=verdict,
                label=CLASSES.index(truth[one.id]) if verdict == "label" else None,
                question=one.question,
                annotator="ann",
                view="check",
            )
            for one in asked
        ]
    )


def test_answers_that_were_taken_back_certify_nothing_and_their_questions_are_open_again() -> None:
    with trained() as (run, truth):
        first = run.certify(error=0.1, checks=200)
        say(run, first.asked, truth)
        say(run, first.asked, truth, verdict="retract")
        again = run.certify(error=0.1, checks=200)
        assert again.statement["checks"] == 0
        assert again.asked == first.asked
        assert len(run.store.facts(Attempt)) == 1


def test_the_same_answers_certify_where_they_stand() -> None:
    with trained() as (run, truth):
        found = run.certify(error=0.1, checks=200)
        while found.waits_for:
            say(run, found.asked, truth)
            found = run.certify(error=0.1, checks=200)
        assert found.statement["certified"]
        assert found.statement["checks"] > 20


def test_an_answer_that_is_given_again_after_it_was_taken_back_counts_once() -> None:
    with trained() as (run, truth):
        first = run.certify(error=0.1, checks=200)
        wrong = {name: CLASSES[1 - CLASSES.index(label)] for name, label in truth.items()}
        say(run, first.asked[:1], wrong)
        say(run, first.asked[:1], truth, verdict="retract")
        say(run, first.asked[:1], truth)
        again = run.certify(error=0.1, checks=200)
        assert again.statement["checks"] == 1
        assert first.asked[0].id not in {one.id for one in again.asked}, (
            "it is right, so it is not asked twice"
        )


@pytest.mark.parametrize("verdict", ["retract", "skip"])
def test_one_person_takes_back_nothing_that_another_said(verdict: str) -> None:
    with trained() as (run, truth):
        first = run.certify(error=0.1, checks=200)
        say(run, first.asked, truth)
        other = [
            Answer(id=one.id, key=f"b-{one.id}", verdict=verdict, question=one.question, annotator="bob")
            for one in first.asked[:2]
        ]
        run.store.answer(other)
        checks = run.certify(error=0.1, checks=200).statement["checks"]
        assert checks == len(first.asked)


def test_another_seed_does_not_draw_the_checks_again(tmp_path: Path) -> None:
    asked = []
    for seed in (1, 99):
        with trained(store=tmp_path / "run.db", seed=seed) as (run, _):
            asked.append([one.id for one in run.certify(error=0.1, checks=200).asked])
            assert len(run.store.facts(Attempt)) == 1
    assert asked[0] == asked[1] != []
