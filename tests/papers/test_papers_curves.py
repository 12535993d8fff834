import json

import pytest
import torch

import askwise as aw
from askwise.papers import curves
from askwise.papers.gal2017.labels_to import _STORED, stored
from askwise.papers.gal2017.skin import auc
from askwise.papers.pseudo import accuracy, pseudo_labels
from askwise.papers.rounds import learn
from askwise.runs.rows import Row


def row(accuracy, *, seed=0, validation=0, entry="one"):
    values = {"labels": [20, 30, 40], "accuracy": accuracy, "validation": validation}
    return Row(
        key={"entry": entry, "seed": seed, "quick": True},
        protocol="p",
        settings={},
        values=values,
        command="c",
        commit=None,
        started="2026-01-01",
        seconds=1.0,
        cpu_seconds=2.0,
        conditions={},
    )


def test_labels_to_a_target_are_the_median_over_the_seeds_with_their_range():
    rows = [row([0.8, 0.9, 0.9]), row([0.8, 0.8, 0.95]), row([0.9, 0.9, 0.9])]
    assert curves.labels_column(0.9).ours(rows, []) == "30 (20 to 40)"
    assert curves.labels_column(0.9).ours(rows[:1], []) == "30"
    assert curves.labels_column(0.95).ours(rows, []) == "> 40 (40 to > 40)"


def test_validation_labels_count_in_every_total():
    rows = [row([0.8, 0.9, 0.9], validation=100)]
    assert curves.labels_column(0.9).ours(rows, []) == "130"
    assert curves.labels_column(0.99).ours(rows, []) == "> 140"
    assert curves.mean_crossing(0.9).ours(rows, []) == "130"


def test_the_mean_curve_crosses_where_no_single_one_need():
    rows = [row([0.8, 0.88, 1.0]), row([0.8, 0.94, 0.8])]
    assert curves.mean_crossing(0.9).ours(rows, []) == "30"
    assert curves.mean_crossing(0.95).ours(rows, []) == "> 40"


def test_labels_saved_are_a_share_of_the_baselines():
    column = curves.saving_column(0.9)
    ours, never = [row([0.9, 0.9, 0.9])], [row([0.5, 0.5, 0.5])]
    late, none = [row([0.5, 0.5, 0.9], entry="random")], [row([0.5, 0.5, 0.5], entry="random")]
    assert column.ours(ours, late) == "50 %"
    assert column.ours(ours, none) == "> 50 %"
    assert column.ours(never, late) == "–"
    assert column.ours(late, late) == "–"
    assert column.ours(ours, []) == "–"


def test_last_values_and_areas_are_means_with_a_standard_error():
    rows = [row([0.8, 0.8, 0.9]), row([0.8, 0.8, 0.8])]
    assert curves.last_column().ours(rows, []) == "85.00 ± 5.00"
    assert curves.last_column(error=True).ours(rows[:1], []) == "10.00"
    assert curves.area_column().ours(rows, []) == "81.25 ± 1.25"
    assert curves.Number("nothing", "none").column.ours(rows, []) == "–"


def test_the_authors_curves_are_read_from_a_data_folder_that_is_given(tmp_path):
    assert stored(None, "100 + 5") == []
    assert stored(tmp_path, "100 + 5") == []
    keys = [key for names in _STORED.values() for own in names.values() for key in own]
    (tmp_path / "gal2017_curves").mkdir()
    known = {key: [[0.5 + 0.002 * place for place in range(181)]] for key in keys}
    (tmp_path / "gal2017_curves" / "curves.json").write_text(json.dumps(known))
    found = {curve.name: curve for curve in stored(tmp_path, "100 + 5")}
    assert set(found) == {"Mean STD", "BALD", "VR, votes", "entropy"}
    assert found["BALD"].labels[:2] == [100, 105]
    assert found["BALD"].labels[-1] == 500
    two = {curve.name: curve for curve in stored(tmp_path, "20 + 10")}
    assert (len(two["BALD"].seeds), two["BALD"].labels[:2]) == (2, [20, 30])


def test_auc_counts_pairs_in_the_right_order():
    scores, truth = torch.tensor([0.1, 0.4, 0.35, 0.8]), torch.tensor([0, 0, 1, 1])
    assert auc(scores, truth) == pytest.approx(0.75)
    assert auc(torch.zeros(4), truth) == pytest.approx(0.5)


def test_pseudo_labels_use_the_shape_of_what_nobody_labelled():
    # Two moons of points along a line each: one label on each, far from where the classes meet.
    rng = torch.Generator().manual_seed(0)
    along = torch.rand(400, generator=rng) * 4
    y = torch.arange(400) % 2
    x = torch.stack([along + y, y * 2.0 - 1 + 0.1 * torch.randn(400, generator=rng)], dim=1)
    first = torch.tensor([0, 1])

    def learned(weight):
        torch.manual_seed(0)
        network = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
        options = {"steps": 300, "seed": 0, "lr": 1e-2, "weight": weight}
        return accuracy(pseudo_labels(network, (x[first], y[first]), x, **options), x, y)

    assert learned(3.0) == 1.0
    assert learned(3.0) >= learned(0.0)  # the control: labels alone


def test_a_loop_in_memory_asks_for_the_highest_scores_and_never_twice():
    x = torch.linspace(-1, 1, 20)[:, None]
    y = (x[:, 0] > 0.1).long()
    seen, models = [], []

    def fit(told, seed, last):
        assert (last is None) == (not models)
        seen.append(told.tolist())
        network = aw.nets.linear(1, 2)
        training = aw.Training(epochs=30, lr=0.1)
        models.append(aw.fit(network, (x[told], y[told]), posterior="point", training=training, seed=seed))
        return models[-1]

    found = learn(
        x,
        fit=fit,
        measure=lambda fitted, seed: {"accuracy": 0.5},
        acquire="max_entropy",
        first=4,
        batch=3,
        budget=12,
        seed=0,
        draws=1,
    )
    assert found == {"labels": [4, 7, 10], "accuracy": [0.5, 0.5, 0.5]}
    assert seen[2][:7] == seen[1]
    assert len(set(seen[2])) == 10
    scores = aw.score("max_entropy", aw.log_probs(models[0], x, draws=1))
    scores[seen[0]] = -1.0
    assert set(seen[1][4:]) == set(scores.topk(3).indices.tolist())
