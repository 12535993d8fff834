"""A newcomer's words: rows, names and classes instead of hashes; a model, an item, a reason."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from small_run import CLASSES, POINTS, TRUTH, learner, network, pool

import askwise as aw
from askwise.engine import Local
from askwise.errors import InputError


def test_questions_have_a_row_a_name_and_the_guessed_class() -> None:
    with learner() as run:
        for question in run.ask():
            assert np.array_equal(run.item(question.id).inputs, POINTS[question.row])
            assert question.guess is None
        run.tell({q.row: TRUTH[q.id] for q in run.ask()})
        assert all(question.guess in CLASSES for question in run.ask())


def test_answers_are_told_by_row_by_name_and_by_id_alike() -> None:
    stored = []
    for key in ("row", "name", "id"):
        with learner() as run:
            run.tell({getattr(q, key): TRUTH[q.id] for q in run.ask()})
            stored.append(run.rounds() or sorted(TRUTH[q.id] for q in run.ask()))
            assert run.status().counts.labelled == 4
    assert stored[0] == stored[1] == stored[2]


def test_one_item_told_twice_is_refused() -> None:
    with learner() as run:
        first = run.ask()[0]
        with pytest.raises(InputError, match="is told twice"):
            run.tell({first.row: CLASSES[0], first.id: CLASSES[0]})
        assert run.status().counts.labelled == 0


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({10**6: "no"}, "the pool has the rows 0 to 39, and no row 1000000"),
        ({"x[400]": "no"}, r"the pool has no item 'x\[400\]' \(the nearest is 'x\["),
        (
            {"7": "no"},
            r"the pool has no item '7' \(a row is named by a number, in a file in a column row\)",
        ),
    ],
)
def test_answers_that_name_no_item_are_refused(answers, message) -> None:
    with learner() as run, pytest.raises(InputError, match=message):
        run.tell(answers)


def test_records_and_models_print_as_they_are_written_without_tensors() -> None:
    for written in (
        "aw.bbb(last=1)",
        "aw.laplace()",
        "aw.Training(epochs=20)",
        "aw.tasks.regression(tau=2.0)",
    ):
        made = eval(written, {"aw": aw})  # noqa: S307
        assert repr(made).startswith(written[:-1])
        assert repr(eval(repr(made), {"aw": aw})) == repr(made)  # noqa: S307  what is printed can be typed
    with learner() as run:
        assert repr(run.pool) == "Pool(40 items)"
        assert repr(run) == "Learner(Sequential, bbb, bald, Pool(40 items), store memory)"
        run.run(oracle=TRUTH)
        assert "classes=('red', 'green', 'blue')" in repr(run.fitted)
        assert "tensor" not in repr(run.fitted)
        assert repr(run.plan).startswith("Plan(classes=('red', 'green', 'blue'), ")
        assert "needed" not in repr(run.plan)  # a default


def test_nothing_to_ask_has_a_reason() -> None:
    with learner(budget=4) as run:
        run.run(oracle=TRUTH)
        nothing = run.ask()
        assert nothing == []
        assert nothing.reason == "the budget of 4 labels is spent"
        assert repr(nothing) == "nothing to ask: the budget of 4 labels is spent"
    with learner() as run:
        assert run.ask().reason is None


def test_the_current_model_predicts_as_the_learner_does() -> None:
    with learner(budget=7) as run:
        with pytest.raises(InputError, match="there is no model yet"):
            _ = run.fitted
        run.run(oracle=TRUTH)
        plan, points = run.status().plan, torch.from_numpy(POINTS)
        mean = aw.predict(run.fitted, points, draws=plan.draws, seed=plan.draw_seed(len(run.rounds()))).mean
        assert run.fitted.classes == plan.classes
        assert run.fitted.item_shape == POINTS.shape[1:]
        ids = list(pool().ids)
        names = [f"x[{row}]" for row in range(len(ids))]
        for items in (points, POINTS, pool(), ids, names):
            found = run.predict(items).mean
            assert torch.equal(found, mean[: len(found)])
            assert len(found) in (len(points), len(ids))


def test_a_saved_model_knows_its_classes(tmp_path: Path) -> None:
    with learner(budget=4) as run:
        run.run(oracle=TRUTH)
        run.fitted.save(tmp_path / "model")
    again = aw.load(tmp_path / "model", network=network())
    assert (again.classes, again.item_shape) == (tuple(CLASSES), POINTS.shape[1:])


def test_a_folder_is_predicted_as_the_pool_was_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for folder, count in (("pool", 8), ("new", 3)):
        (tmp_path / folder).mkdir()
        for number in range(count):
            pixels = rng.integers(0, 256, (20, 20, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / folder / f"{number}.png")
    small = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 8 * 8, 2))
    photos = aw.pool.images(tmp_path / "pool", size=8)
    with aw.Learner(small, pool=photos, classes=["cat", "dog"], batch=4, budget=4) as run:
        run.tell({q.name: "cat" for q in run.ask()})
        run.ask()
        found = run.predict(tmp_path / "new").mean
        assert torch.equal(found, run.predict(aw.pool.images(tmp_path / "new", size=8)).mean)
        assert len(found) == 3
        with pytest.raises(InputError, match="there is no folder"):
            run.predict(tmp_path / "gone")


def own_score(log_probs: torch.Tensor) -> torch.Tensor:
    return -log_probs.exp().mean(dim=1).max(dim=-1).values


def test_a_score_of_ones_own_asks_as_the_named_one_does() -> None:
    picks = []
    for acquire in (own_score, "least_confidence"):
        with learner(acquire=acquire, budget=7) as run:
            run.run(oracle=TRUTH)
            picks.append(sorted(q.id for q in run.ask()) or [one.weights for one in run.rounds()])
    assert picks[0] == picks[1]
    with learner(acquire=own_score) as run:
        assert run.status().plan.acquire.endswith(":own_score")


def test_an_engine_may_be_an_object_and_a_posterior_a_name() -> None:
    with learner(engine=Local(processes=1), posterior="mc_dropout", budget=7) as run:
        run.run(oracle=TRUTH)
        assert run.fitted.posterior == aw.mc_dropout()
        assert run.status().plan.engine == "local"


@pytest.mark.parametrize("name", ["data", "nonsense"])
def test_what_a_learner_does_not_take_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"unknown option of Learner '{name}'"):
        learner(**{name: "digits"})


def test_a_device_that_is_not_there_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="device 'cuda:99' is not available"):
        learner(tmp_path / "run.db", device="cuda:99")
    assert not (tmp_path / "run.db").exists()
