import pytest
from past_runs import run

from askwise.errors import InputError
from askwise.report.past import curves, past
from askwise.store.memory import MemoryStore


@pytest.mark.parametrize(
    ("plan", "name"),
    [
        ({"acquire": "bald"}, "bald"),
        ({"acquire": "bald", "select": "power"}, "power-bald"),
        ({"acquire": "bald", "select": "batchbald"}, "batchbald"),
        ({"acquire": "random"}, "random"),
    ],
)
def test_a_run_is_named_by_how_it_chooses(plan, name):
    assert past(run([0.5], **plan)).name == name


def test_seeds_of_one_method_share_a_curve_over_the_labels_that_all_have_reached():
    runs = [run([0.5, 0.6, 0.7], seed=0), run([0.4, 0.5], seed=1), run([0.3, 0.3], seed=0, acquire="random")]
    bald, random = curves([past(store) for store in runs])
    assert (bald.name, bald.seeds, bald.labels) == ("bald", [0, 1], [10, 20])
    assert bald.values == [[0.5, 0.6], [0.4, 0.5]]
    assert random.name == "random"


def test_a_model_trained_again_on_as_many_labels_replaces_the_earlier_one():
    (curve,) = curves([past(run([0.5, 0.9, 0.6], labels=[10, 20, 20]))])
    assert (curve.labels, curve.values) == ([10, 20], [[0.5, 0.6]])
    (curve,) = curves([past(run([0.5, 0.9, 0.6, 0.8], labels=[10, 20, 15, 25]))])  # labels were withdrawn
    assert (curve.labels, curve.values) == ([10, 15, 25], [[0.5, 0.6, 0.8]])


def test_runs_without_test_data_have_no_curve():
    assert curves([past(run([None, None]))]) == []


def test_the_same_method_and_seed_twice_is_refused():
    with pytest.raises(InputError, match="leave one out"):
        curves([past(run([0.5], seed=3)), past(run([0.6], seed=3))])


def test_a_curve_knows_the_labels_for_validation_and_wants_as_many_of_all_its_seeds():
    held = [past(run([0.5], seed=seed, validation=count)) for seed, count in ((0, 100), (1, 100), (2, 0))]
    assert [curve.validation for curve in curves(held[:2])] == [100]
    with pytest.raises(InputError, match="hold out 100 and 0 labels for validation"):
        curves(held)


def test_a_store_without_a_plan_is_refused():
    with pytest.raises(InputError, match="holds no run yet"):
        past(MemoryStore())
