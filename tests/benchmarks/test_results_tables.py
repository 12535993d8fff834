"""Tables of the results: pairs over seeds, Holm within a table, and what is undecided is called so."""

import re
from statistics import fmean, stdev

import pytest
from jobs.experiment import Row, digest, options, plain
from jobs.tables import Measure, differences, footer, grouped, of, spans

import askwise as aw
from askwise.math.paired import difference, holm
from askwise.train.training import Length

MEASURE = Measure(key="score", title="score", write="{:.2f}", high=True)


def row(method: str, seed: int, value: float, **changes) -> Row:
    known = {
        "key": {"method": method, "seed": seed},
        "settings": {"epochs": 5, "method": method},
        "values": {"score": value},
        "command": "make results ONLY=toy",
        "commit": "a" * 40,
        "started": "2025-01-02T03:04:05+00:00",
        "seconds": 1800.0,
        "cpu_seconds": 900.0,
        "conditions": {"torch": "2.13.0", "threads": 1},
        **changes,
    }
    return Row(protocol=digest(known["settings"]), **known)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_clear_gap_a_hidden_one_and_none() -> None:
    noise = [0.0, 3.0, -2.0, 1.0, -1.0, 2.0, -3.0, 0.5, -0.5, 1.5]
    values = {
        "plain": dict(enumerate(noise)),
        "far": {seed: value + 1 + 0.01 * (seed % 3) for seed, value in enumerate(noise)},
        "near": {seed: value + (0.02 if seed % 2 else -0.01) for seed, value in enumerate(noise)},
    }
    told = {cells(line)[0]: cells(line) for line in differences(values, MEASURE, baseline="plain")[2:-1]}
    assert told["plain"][3:] == ["–"] * 4
    assert told["far"][6] == "higher: better"
    assert told["near"][6] == "undecided"
    # The seeds differ by points and the methods by hundredths: only pairs can see it.
    assert stdev(noise) > 1
    one = difference(list(values["far"].values()), list(values["plain"].values()))
    assert told["far"][3] == f"{one.mean:+.2f} ({one.low:+.2f} to {one.high:+.2f})"
    assert told["far"][5] == f"{one.detectable:.2f}"
    assert told["far"][1] == "10"


def test_low_is_good_where_the_measure_says_so() -> None:
    values = {"a": {0: 1.0, 1: 1.1, 2: 1.2}, "b": {0: 2.0, 1: 2.101, 2: 2.201}}
    loss = Measure(key="nll", title="NLL")
    assert cells(differences(values, loss, baseline="a")[3])[6] == "higher: worse"
    assert cells(differences(values, MEASURE, baseline="a")[3])[6] == "higher: better"


def test_only_seeds_that_both_have_are_paired_and_n_says_so() -> None:
    values = {"a": {0: 1.0, 1: 1.1, 2: 1.2}, "b": {1: 2.0, 2: 2.2, 7: 90.0}}
    line = cells(differences(values, MEASURE, baseline="a")[3])
    assert line[3].startswith("+0.95")
    assert "2 pairs" in line[3]


def test_without_a_baseline_or_with_one_seed_there_is_no_verdict() -> None:
    assert cells(differences({"b": {0: 2.0, 1: 3.0}}, MEASURE, baseline="a")[2])[3:] == ["–"] * 4
    one = differences({"a": {0: 2.0}, "b": {0: 3.0}}, MEASURE, baseline="a")
    assert cells(one[3]) == ["b", "1", "3.00", "–", "–", "–", "–"]


def test_groups_of_one_table_are_corrected_together() -> None:
    base = dict.fromkeys(range(4), 0.0)
    gaps = {"50 %": [1.0, 1.2, 0.9, 1.4], "90 %": [0.5, 0.1, 0.9, 0.3], "98 %": [0.1, -0.1, 0.3, -0.2]}
    groups = {name: {"l1": base, "snr": dict(enumerate(gap))} for name, gap in gaps.items()}
    lines = [cells(line) for line in grouped(groups, MEASURE, baseline="l1", what="zero")[2:-1]]
    found = [line[5] for line in lines if line[1] == "snr"]
    raw = [difference(gap, [0.0] * 4).p for gap in gaps.values()]
    assert found == [f"{p:.3f}".removeprefix("0") for p in holm(raw)]
    assert found != [f"{p:.3f}".removeprefix("0") for p in raw]  # control: alone they look surer


def test_values_are_taken_by_method_and_seed() -> None:
    rows = [row("a", 0, 1.0), row("a", 1, 2.0), row("b", 0, 3.0)]
    assert of(rows, "score", by="method") == {"a": {0: 1.0, 1: 2.0}, "b": {0: 3.0}}
    assert of(rows, lambda one: 2 * one["score"], by="method")["b"] == {0: 6.0}


def test_the_foot_says_command_commits_seeds_conditions_and_settings() -> None:
    rows = [row("a", seed, 1.0) for seed in (0, 1, 2, 5)] + [row("b", 0, 1.0, commit="b" * 40 + "-dirty")]
    text = "\n".join(footer(rows))
    assert "`make results ONLY=toy`" in text
    assert "a" * 40 + ", " + "b" * 40 + "-dirty" in text
    assert "Seeds 0 to 2, 5." in text
    assert "torch 2.13.0, 1 thread." in text
    assert "2.5 hours" in text
    assert '- all: `{"epochs": 5}`' in text
    assert '- b: `{"method": "b"}`' in text


def test_runs_of_numbers_are_written_short() -> None:
    assert spans([0, 1, 2, 3, 7, 9, 10]) == "0 to 3, 7, 9 to 10"


def test_a_new_default_is_a_new_protocol(monkeypatch) -> None:
    assert options(aw.bbb(last=1)) != options(aw.bbb(last=1, prior_std=7.0))
    assert digest(options(aw.bbb(last=1))) == digest(options(aw.bbb(last=1)))
    before = options(aw.Training())
    assert before["lr"] == 3e-3
    longer = Length(50, min_steps=4000)
    monkeypatch.setattr("askwise.train.training.USUAL", longer)  # a default that no field shows
    assert options(aw.Training()) != before


def test_a_training_says_the_length_of_its_task() -> None:
    untouched, named = aw.Training(), aw.Training(epochs=7)
    assert options(untouched)["min_steps"] == 500
    assert "passes" not in options(untouched)
    found = options(untouched, task="regression")
    assert (found["epochs"], found["min_steps"], found["passes"]) == (50, 5000, 500)
    assert options(named, task="regression") == options(named)  # what is named belongs to no task


def test_an_option_that_is_off_changes_no_protocol() -> None:
    assert "first" not in options(aw.bbb(last=1))
    assert options(aw.bbb(all=True))["all"] is True  # control


def test_settings_are_what_json_reads_back() -> None:
    assert plain({"a": (1, 2), "b": {"c": float("inf")}}) == {"a": [1, 2], "b": {"c": "inf"}}


def test_a_mean_has_its_standard_error() -> None:
    values = {"a": {0: 1.0, 1: 2.0, 2: 4.0}}
    cell = cells(differences(values, MEASURE, baseline="a")[2])[2]
    mean, error = (float(part) for part in re.split(" ± ", cell))
    assert mean == pytest.approx(fmean([1, 2, 4]), abs=0.005)
    assert error == pytest.approx(stdev([1, 2, 4]) / 3**0.5, abs=0.005)
