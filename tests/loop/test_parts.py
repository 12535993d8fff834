"""Initial, validation and test data."""

from collections import Counter

import numpy as np
import pytest
import torch
from small_run import CLASSES, IDS, LABELS, POINTS, TRUTH, learner, ledger, pool

from askwise.errors import InputError


def test_initial_labels_may_be_a_number_ids_labels_or_data():
    assert len(learner(initial=5).ask()) == 5
    assert {question.id for question in learner(initial=IDS[3:6]).ask()} == set(IDS[3:6])
    by_id = learner(initial={name: TRUTH[name] for name in IDS[:6]})
    assert {question.round for question in by_id.ask()} == {1}
    assert by_id.status().counts.labelled == 6
    test = (POINTS[45:], [CLASSES[label] for label in LABELS[45:]])
    data = learner(initial=(POINTS[40:45], [CLASSES[label] for label in LABELS[40:45]]), test=test)
    data.ask()
    assert (data.rounds()[0].labels, data.status().counts.items) == (5, 45)
    assert data.status().plan.initial.count == 5


def test_initial_labels_told_again_at_a_restart_do_not_undo_a_correction(folder):
    initial = dict.fromkeys(IDS[:4], "red")
    with learner(folder / "run.db", initial=initial) as run:
        run.tell({IDS[0]: "blue"})
    with learner(folder / "run.db", initial=initial) as run:
        assert ledger(run).labels[IDS[0]] == 2


def test_validation_and_test_items_are_measured_and_never_asked():
    held = {name: TRUTH[name] for name in IDS[:10]}
    run = learner(validation=held, budget=30)
    run.run(oracle=TRUTH)
    assert run.status().counts.items == 30
    assert set(run.rounds()[-1].metrics) == {"validation", "test", "calibration"}
    assert not held.keys() & ledger(run).labels.keys()
    with pytest.raises(InputError, match="is held out for validation or test"):
        run.tell({IDS[0]: "red"})


def first(**changes):
    """The ids that are asked first."""
    choices = {"initial": {"per_class": 2, "labels": TRUTH}, **changes}
    return {question.id for question in learner(**choices).ask()}


def test_an_initial_set_per_class_has_as_many_items_of_every_class():
    for seed in range(20):
        found = Counter(TRUTH[name] for name in first(seed=seed))
        assert found == dict.fromkeys(CLASSES, 2)
    by_chance = [Counter(TRUTH[name] for name in first(seed=seed, initial=6)) for seed in range(20)]
    assert any(found != dict.fromkeys(CLASSES, 2) for found in by_chance)  # the control


def test_it_depends_on_seed_and_ids_and_not_on_the_order_of_the_pool():
    order = np.random.default_rng(1).permutation(40)
    turned = pool(POINTS[order], [IDS[place] for place in order])
    assert first(pool=turned) == first()
    assert first(seed=6) != first()
    shifted = pool(POINTS[:40], [IDS[(place + 7) % 40] for place in range(40)])
    assert first(pool=shifted) == first()  # the same ids at other places


def test_it_is_asked_like_other_questions_and_is_part_of_the_stored_plan(folder):
    with learner(folder / "run.db", initial={"per_class": 2, "labels": TRUTH}) as run:
        asked = {question.id for question in run.ask()}
        assert run.status().counts.labelled == 0
        kept = run.status().plan.initial
    assert (kept.per_class, kept.count, set(kept.ids)) == (2, 6, asked)


def test_a_run_keeps_the_initial_set_it_began_with(folder):
    """Also if the pool has grown, or the labels are not at hand any more."""
    with learner(folder / "run.db", initial={"per_class": 2, "labels": TRUTH}) as run:
        kept = run.status().plan.initial.ids
    grown = {"pool": pool(POINTS, IDS), "test": None}
    for labels in ({"labels": TRUTH}, {}):
        with learner(folder / "run.db", initial={"per_class": 2, **labels}, **grown) as run:
            assert run.status().plan.initial.ids == kept
            assert {question.id for question in run.ask()} == set(kept)
    fresh = learner(initial={"per_class": 2, "labels": TRUTH}, **grown)
    assert fresh.status().plan.initial.ids != kept  # the control: a new run over the larger pool


def test_held_out_and_unreadable_items_are_not_in_it():
    chosen = first()
    held = {name: TRUTH[name] for name in sorted(chosen)[:3]}
    assert not first(validation=held) & held.keys()
    points = POINTS[:40].copy()
    points[[IDS.index(name) for name in held]] = np.inf
    found = first(pool=pool(points))
    assert not found & held.keys()
    assert Counter(TRUTH[name] for name in found) == dict.fromkeys(CLASSES, 2)


def test_a_subset_of_the_pool_does_not_cut_what_is_labelled_first():
    assert len(first(pool_subset=3)) == 6


def test_labels_may_be_in_a_file(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("id,label\n" + "".join(f"{name},{label}\n" for name, label in TRUTH.items()))
    assert first(initial={"per_class": 2, "labels": path}) == first()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"initial": {"per_class": 2}}, "initial per class needs labels known in advance; run with --oracle"),
        ({"initial": {"per_class": 2, "labels": TRUTH.get}}, "needs labels known in advance"),
        (
            {"initial": {"per_class": 2, "labels": dict.fromkeys(IDS, "red")}},
            "wants 2 items of class 'green', and 0 with that label can be asked about; lower per_class",
        ),
        (
            {"initial": {"per_class": 20, "labels": TRUTH}, "budget": 60},
            "wants 20 items of class 'red', and 1[0-9] with that label",
        ),
        (
            {"initial": {"per_class": 4, "labels": TRUTH}},
            "4 of each of 3 classes are 12 labels, more than the budget of 10",
        ),
        ({"initial": {"per_class": 0, "labels": TRUTH}}, "per_class must be a whole number of at least 1"),
        (
            {"initial": {"per_class": 2, "label": TRUTH}},
            "unknown key of initial 'label'; did you mean 'labels'",
        ),
        ({"initial": {"per_class": 2, "labels": {IDS[0]: "rot"}}}, "is 'rot', which is no class"),
    ],
)
def test_a_set_that_cannot_be_balanced_is_refused_in_one_line(changes, said):
    with pytest.raises(InputError, match=said) as caught:
        learner(**changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("part", ["validation", "test"])
def test_items_with_the_contents_of_measured_data_are_never_asked_nor_trained_on(part):
    twice = np.concatenate([POINTS[:40], POINTS[:2]])  # a copy has an id of its own
    none = {"test": None, "validation": None}
    rows = slice(0, 10)
    measured = {part: (torch.from_numpy(POINTS[rows]), [CLASSES[label] for label in LABELS[rows]])}
    labels = np.concatenate([LABELS[:40], LABELS[:2]])
    asked = {}
    for name, held in {"held": measured, "all": {}}.items():
        run = learner(pool=twice, budget=42, **{**none, **held})
        asked[name] = set[int]()
        run.run(oracle=lambda q, name=name: asked[name].add(q.row) or CLASSES[labels[q.row]])
    assert asked["held"] == set(range(10, 40))
    assert asked["all"] == set(range(42))  # the control


def test_a_pool_that_is_all_held_out_is_refused():
    measured = (POINTS[:40], [CLASSES[label] for label in LABELS[:40]])
    with pytest.raises(InputError, match="every item of the pool is held out"):
        learner(pool=POINTS[:40], test=measured)
