"""Every experiment of the queue: its jobs, its protocol, and its tables from invented rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import compare
import digits
import digits_protocol
import exam
import honest
import own_data
import placements
import pruning
import pytest
import tasks
import torch
import uci
from jobs import curves
from jobs.experiment import Experiment, Key, Row, canonical
from jobs.ledger import Home, Ledger

import askwise as aw
import results
from askwise.compare.exam.grades import grade
from askwise.demo import PROTOCOL, Protocol
from askwise.seeding import generator

BY_NAME = {experiment.name: experiment for experiment in results.EXPERIMENTS if not experiment.file}


def invented(experiment: Experiment, jobs: list[Key]) -> list[Row]:
    """Rows with numbers of the right form."""
    return [
        Row(
            key=dict(key),
            protocol=experiment.protocol(key),
            settings=dict(experiment.settings(key)),
            values=_values(experiment.name, key),
            command=f"make results ONLY={experiment.name}",
            commit="c" * 40,
            started="2025-01-02T03:04:05+00:00",
            seconds=2.0,
            cpu_seconds=1.0,
            conditions={"torch": "2.13.0", "threads": 1},
        )
        for key in jobs
    ]


def _values(name: str, key: Key) -> dict[str, Any]:
    rng = generator(0, canonical(key))

    def noise() -> float:
        return 0.02 * torch.rand((), generator=rng).item()

    if name in ("digits", "digits_protocol", "mnist"):
        labels = list(range(20, 201, 10))
        better = 0.0 if key["method"] == "random" else 0.05
        accuracy = [0.85 * n / (n + 10) + better + noise() for n in labels]
        return {"labels": labels, "accuracy": accuracy, "nll": [1 - value for value in accuracy]}
    if name == "exam":
        _, gold = exam.solved(str(key["head"]))
        return {"grades": dict(grade(gold.whole, gold.whole, mean_field_std=gold.mean_field_std))}
    if name.startswith("compare"):
        values = {measure.key: 0.5 + noise() for measure in compare.MEASURES}
        return values if key["posterior"] == "bbb" else {**values, "kl_weight": None, "elbo": None}
    if name == "placements":
        measured = {part: 0.5 + noise() for part in ("accuracy", "nll", "ece")}
        spent = {"training_cpu_s": 60.0, "prediction_cpu_s": 5.0}
        return {**measured, **spent, "parameters": 10, "gaussian_scales": 5, "form": "loop"}
    if name.startswith("default"):
        if str(key["set"]).startswith("uci/"):
            return {"nll": 1 + noise(), "accuracy": None, "rmse": 1 + noise()}
        return {"nll": 1 + noise(), "accuracy": 0.5 + noise(), "rmse": None}
    if name == "elbo":
        return {"per_label": noise(), "expected_log_likelihood": 2 * noise(), "kl": noise()}
    if name == "honest":
        return _promises(key)
    if name == "uci":
        return {"rmse": 1 + noise(), "log_likelihood": -1 + noise(), "tau": 0.5, "rate": 0.0}
    if name == "tasks":
        curve = {kind: [0.3, 0.4 + noise()] for kind in tasks.KEPT[str(key["data"])]}
        return {"labels": [20, 40], **curve, "iou": [0.5] * 10 + [None]}
    if name == "own_data":
        kinds = [*own_data.MEASURES]
        if key["method"] == own_data.PROJECT:
            kinds += ["temperature", *(f"bare_{kind}" for kind in own_data.MEASURES)]
        return {"labels": [20, 50, 150], **{kind: [0.3, 0.4, 0.5 + noise()] for kind in kinds}}
    part = pruning.SPARSITIES if key["part"] == "weights" else pruning.FRACTIONS
    sizes = {"parameters": 5, "parameters_whole": 10, "flops": 1, "flops_whole": 4}
    quality = {"accuracy": 0.5 + noise(), "nll": 1.0, "tuned_accuracy": 0.9 + noise()}
    return {
        "points": [
            {"by": by, "share": share, **quality, **sizes}
            for by in pruning.CRITERIA[str(key["posterior"])]
            for share in part
        ]
    }


def _promises(key: Key) -> dict[str, Any]:
    if key["part"] == "adversarial":
        return {"broken": {"200": 4, "400": 2}, "runs": 250}
    if key["part"] == "parts":
        return {"missed": dict.fromkeys(honest.parts.WAYS, 1)}
    if key["part"] == "forecasts":
        return {"forecasts": [[0.004, -0.009, 0.016, 0.02], [0.02, -0.005, 0.032, 0.01]]}
    if key["part"] == "needles":
        return {"found": {"random": 3, "k_center": 20}}
    if key["part"] == "needle":
        return {"found": {"needle": 21}}
    if key["part"] == "suspects":
        return {
            "found": {"cross-fitted": 0.5, "random": 0.1},
            "accuracy": {"as answered": 0.8},
            "wrong": 30.0,
        }
    ways = [honest.bands.OURS, honest.bands.STRICT, honest.bands.PLAIN, honest.bands.NAIVE, honest.bands.OLD]
    ways.append(honest.bands.LURE)
    points = {"share": 0.01, "with the model's uncertainty": 0.01, "LURE": 0.01, "accuracy": 0.9}
    stop = {"stopped": 20.0, "missed": 1.0, "below": 2.0, "answers": 5000.0}
    intervals = (
        honest.estimates.OURS,
        honest.estimates.PLAIN,
        honest.estimates.NORMAL,
        honest.estimates.COUNTED,
    )
    return {
        "bands": {
            "missed": dict.fromkeys(ways, 1),
            "missed_new": dict.fromkeys(ways, 1),
            "stops": dict.fromkeys(ways, stop),
            "widths": {str(n): dict.fromkeys(ways, 0.2) for n in honest.bands.WIDTHS_AT},
            "squares": {str(n): points for n in honest.bands.WIDTHS_AT},
        },
        "certificates": {
            f"{error:g} certified, 200 checks": {"share": 20.0, "broken": 1.0} for error in (0.02, 0.05)
        }
        | {"audits": 50},
        "estimates": {way: {"covered": 48, "covered_pool": 47, "width": 5.0} for way in intervals}
        | {"samples": 50},
    }


@pytest.fixture(params=list(BY_NAME))
def experiment(request: pytest.FixtureRequest) -> Experiment:
    return BY_NAME[request.param]


def test_the_order_of_priority() -> None:
    assert list(BY_NAME) == [
        "default_bbb", "default_training", "digits_protocol", "digits", "exam", "compare_digits",
        "compare_mnist", "placements", "uci", "tasks", "own_data", "honest", "elbo", "pruning",
    ]  # fmt: skip


def test_jobs_are_distinct_and_settings_are_plain(experiment: Experiment, tmp_path: Path) -> None:
    ledger = Ledger(experiment, Home(tmp_path, tmp_path))  # refuses a job that is there twice
    assert len(ledger.left()) == len(experiment.jobs)
    for key in experiment.jobs[:30]:
        canonical(experiment.settings(key))


def test_tables_are_written_from_one_row_on(experiment: Experiment, tmp_path: Path) -> None:
    experiment.tables(invented(experiment, list(experiment.jobs[:1])), tmp_path)
    text = (tmp_path / f"{experiment.name}.md").read_text()
    assert "Command: `make results ONLY=" in text
    assert "c" * 40 in text


@pytest.mark.parametrize(
    "experiment", [name for name in BY_NAME if name not in ("exam", "honest")], indirect=True
)  # gold is no method, and a promise is kept or not
def test_tables_of_all_rows_have_pairs_and_verdicts(experiment: Experiment, tmp_path: Path) -> None:
    experiment.tables(invented(experiment, list(experiment.jobs)), tmp_path)
    text = (tmp_path / f"{experiment.name}.md").read_text()
    assert "p (Holm)" in text
    assert "undecided" in text
    assert "could have shown" in text
    for line in text.splitlines():
        if line.startswith("!["):
            assert (tmp_path / line.split("(")[1].rstrip(")")).stat().st_size > 10_000
    assert not list(tmp_path.glob("*new*"))


def test_the_exams_table_has_a_line_for_every_candidate_on_both_heads(tmp_path: Path) -> None:
    exam.EXPERIMENT.tables(invented(exam.EXPERIMENT, list(exam.EXPERIMENT.jobs)), tmp_path)
    text = (tmp_path / "exam.md").read_text()
    for name in exam.exam.CANDIDATES:
        assert text.count(f"\n| {name} |") == 2
    assert "Seeds 0, 1, 2." in text


def test_the_promises_have_a_table_for_every_part_over_enough_runs(tmp_path: Path) -> None:
    honest.EXPERIMENT.tables(invented(honest.EXPERIMENT, list(honest.EXPERIMENT.jobs)), tmp_path)
    text = (tmp_path / "honest.md").read_text()
    assert text.count("(500 runs)") == 8  # four sets: bands, and bands of parts
    assert "| band | .960 | .960 | .960 | .960 |" in text
    assert "Audits: digits 1,000," in text
    assert "| 2 % | 1,500 | .016 | .008 |" in text
    assert text.count("(1,000)") == 4
    assert "| trec | 5 | 100 |" in text
    assert "| trec | 100 | .120 | .800 |" in text


def test_twenty_seeds_ten_seeds_and_twenty_splits() -> None:
    def seeds(name: str, unit: str = "seed") -> int:
        return len({key[unit] for key in BY_NAME[name].jobs})

    found = {name: seeds(name) for name in ("digits", "compare_digits", "compare_mnist", "placements")}
    assert found == {"digits": 20, "compare_digits": 10, "compare_mnist": 5, "placements": 10}
    assert seeds("uci", "split") == seeds("elbo", "split") == 20
    assert len({key["data"] for key in uci.EXPERIMENT.jobs}) == 4


def test_the_protocol_is_chosen_on_other_seeds_than_are_reported() -> None:
    assert not set(digits_protocol.SEEDS) & set(digits.SEEDS)


def test_the_demos_protocol_is_one_of_those_that_were_tried() -> None:
    tried = {name: curves.settings(digits_protocol.protocol(name)) for name in digits_protocol.SETTINGS}
    assert len({canonical(one) for one in tried.values()}) == len(tried)
    assert curves.settings(PROTOCOL) in tried.values()


TINY = Protocol(network="mlp", training={"epochs": 2}, initial=10, batch=5, budget=20, draws=3)


def test_a_protocol_is_settled_without_the_test_digits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    own = curves.learner

    def watched(plan, known, **options):
        seen.append((plan.validation.count, known.test))
        return own(plan, known, **options)

    monkeypatch.setattr(curves, "learner", watched)
    found = curves.run(TINY, "bald", 100, tmp_path, held_out=50)
    assert seen == [(50, None)]
    assert found["labels"] == [10, 15, 20]
    assert all(round(50 * value, 6).is_integer() for value in found["accuracy"])  # of fifty digits


def test_the_reported_curve_is_of_the_test_digits(tmp_path: Path) -> None:
    found = curves.run(TINY, "random", 0, tmp_path)
    assert all(round(596 * value, 6).is_integer() for value in found["accuracy"])
    again = curves.run(TINY, "random", 0, tmp_path)  # its store is still there: nothing is learned again
    assert again == found


def test_changed_defaults_of_a_posterior_ask_for_new_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    key = {"placement": "BNN-1", "seed": 0}
    before = placements.EXPERIMENT.protocol(key)
    monkeypatch.setitem(placements.PLACEMENTS, "BNN-1", aw.bbb(last=1, kl_weight=0.5))
    assert placements.EXPERIMENT.protocol(key) != before
    assert placements.EXPERIMENT.protocol({"placement": "CNN", "seed": 0}) != before


def test_gals_grid_has_twelve_points_and_his_network_drops_inputs_too() -> None:
    gal = uci.METHODS[uci.GAL]
    assert len(uci.grid("yacht", gal)) == 12
    assert {one["tau"] for one in uci.grid("concrete", gal)} == {0.025, 0.05, 0.075}
    network = uci.network(6, 0.05)
    assert [type(stage).__name__ for stage in network] == [
        "Dropout", "Flatten", "Linear", "ReLU", "Dropout", "Linear",
    ]  # fmt: skip
    assert not any(isinstance(stage, torch.nn.Dropout) for stage in uci.network(6, 0.0))


@pytest.mark.parametrize("top", range(9))
def test_a_climb_ends_at_the_top_and_measures_only_what_is_on_its_way(top: int) -> None:
    choices = [{"tau": float(number), "rate": 0.0} for number in range(9)]
    asked = []

    def measured(one: Mapping[str, float]) -> dict[str, float]:
        asked.append(one["tau"])
        return {**one, "log_likelihood": -abs(one["tau"] - top)}

    found = uci.climb(choices, measured)
    assert max(found, key=lambda one: one["log_likelihood"])["tau"] == top
    assert sorted(asked) == list(range(max(0, min(3, top - 1)), min(8, max(5, top + 1)) + 1))


def test_uci_is_normalised_by_what_is_learned_from_and_told_in_the_units_of_the_data() -> None:
    x, y = torch.randn(40, 3).double() * 5 + 2, torch.randn(40, 1).double() * 30 - 7
    x[:, 2] = 4.0  # a column that says nothing
    units = uci.Normal((x, y))
    told_x, told_y = units.of((x, y))
    assert torch.allclose(told_y.std(correction=0), torch.ones(()), atol=1e-5)
    assert torch.allclose(told_x[:, :2].mean(0), torch.zeros(2), atol=1e-5)
    assert torch.equal(told_x[:, 2], torch.zeros(40))


def test_the_split_of_uci_holds_a_fifth_out_and_never_the_test_part(monkeypatch: pytest.MonkeyPatch) -> None:
    class Table:
        def split(self, number: int) -> tuple[torch.Tensor, ...]:
            rows = torch.arange(100.0).double()[:, None]
            return rows[:90], rows[:90], rows[90:], rows[90:]

    monkeypatch.setattr(aw.data, "uci", lambda name: Table())
    split = uci.Split("yacht", 3)
    kept, held_out = (set(part[0].flatten().tolist()) for part in (split.kept, split.held_out))
    assert (len(kept), len(held_out)) == (72, 18)
    assert kept | held_out == set(range(90))
    assert held_out != set(range(72, 90))  # the file may be sorted
    assert uci.Split("yacht", 4).held_out[0].tolist() != split.held_out[0].tolist()


def test_pictures_of_unlike_curves_are_refused(tmp_path: Path) -> None:
    rows = invented(digits.EXPERIMENT, list(digits.EXPERIMENT.jobs[:2]))
    rows[1].values["labels"] = rows[1].values["labels"][:-1]
    with pytest.raises(ValueError, match="differ in their numbers of labels"):
        curves.picture({"both": rows}, tmp_path / "curves.png", title="")
