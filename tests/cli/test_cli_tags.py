"""A project of tags or of a number goes the same way as one of classes."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Thirty rows; the first two numbers of a row decide its tags, the first its number."""
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    np.save("x.npy", x)
    tags = [
        "|".join(name for name, value in zip("ab", row, strict=False) if value > 0) or "none" for row in x
    ]
    (tmp_path / "tags.csv").write_text(
        "row,label\n" + "".join(f"{at},{tag}\n" for at, tag in enumerate(tags))
    )
    lines = "".join(f"{at},{float(row[0]) * 3 + 1!r}\n" for at, row in enumerate(x))
    (tmp_path / "numbers.csv").write_text("row,label\n" + lines)
    return x


def read(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_from_tags_to_predictions_and_labels(askwise, rows):
    assert askwise("new", "t", "--features", "x.npy", "--tags", "a,b")[0] == 0
    plan = tomllib.loads(Path("t/plan.toml").read_text())
    assert (plan["tags"], plan["task"]["name"], plan["acquire"]) == (["a", "b"], "multilabel", "bald")
    assert askwise("run", "t", "--oracle", "tags.csv")[0] == 0
    assert askwise("predict", "t", "--output", "p.jsonl")[0] == 0
    found = read("p.jsonl")
    truth = np.stack([rows[:, 0] > 0, rows[:, 1] > 0], axis=1)
    said = np.array([["a" in row["tags"].split("|"), "b" in row["tags"].split("|")] for row in found])
    assert (said == truth).mean() > 0.9
    assert all((row["p:a"] > 0.5) == ("a" in row["tags"].split("|")) for row in found)
    assert askwise("export", "t", "--labels", "--output", "l.csv")[0] == 0
    assert askwise("new", "u", "--features", "x.npy", "--tags", "a,b", "--labels", "l.csv")[0] == 0
    assert askwise("export", "u", "--labels", "--output", "again.csv")[0] == 0
    first, second = (
        {row.split(",")[0]: row.split(",")[1] for row in Path(name).read_text().splitlines()}
        for name in ("l.csv", "again.csv")
    )
    assert first == second
    assert "takes one class for each item" in askwise("export", "t", "--labels", "--format", "folders")[2]


def test_empty_labels_are_skipped_aloud_and_counted_apart(askwise, rows):
    lines = [f"{at},{'none' if at < 6 else '' if at < 15 else 'a|b'}" for at in range(30)]
    Path("some.csv").write_text("row,label\n" + "\n".join(lines))
    said = "9 of 30 lines of some.csv say nothing: these items are skipped; write none as the label of an"
    assert askwise("new", "t", "--features", "x.npy", "--tags", "a,b")[0] == 0
    code, _, err = askwise("run", "t", "--oracle", "some.csv")
    assert (code, said in err) == (0, True)
    code, out, _ = askwise("export", "t", "--labels", "--output", "l.csv")
    assert (code, out) == (0, "l.csv: 21 labels and 9 skipped items without one\n")
    out = askwise("export", "t", "--labels", "--output", "l.csv", "--json")[1]
    assert json.loads(out) == {"output": "l.csv", "labels": 21, "skipped": 9}
    code, out, _ = askwise("new", "u", "--features", "x.npy", "--tags", "a,b", "--labels", "some.csv")
    assert (code, said in out, "21, 21 of them new" in out) == (0, True, True)


def test_from_a_number_to_predictions_and_a_correction(askwise, rows):
    assert askwise("new", "n", "--features", "x.npy", "--number", "price")[0] == 0
    assert askwise("run", "n", "--oracle", "numbers.csv")[0] == 0
    assert askwise("predict", "n", "--output", "p.jsonl")[0] == 0
    found = read("p.jsonl")
    price = np.array([row["price"] for row in found])
    assert np.corrcoef(price, rows[:, 0])[0, 1] > 0.9
    assert all(row["price:std"] > 0 and "ask" not in row for row in found)
    code, out, _ = askwise("correct", "n", found[0]["id"], "7.5")
    assert code == 0
    assert out.splitlines()[0].endswith("-> 7.5")


def test_a_number_called_round_keeps_its_column_and_no_rows_are_appended(askwise, rows):
    assert askwise("new", "n", "--features", "x.npy", "--number", "round")[0] == 0
    assert askwise("run", "n", "--oracle", "numbers.csv")[0] == 0
    assert askwise("predict", "n", "--output", "p.jsonl")[0] == 0
    found = np.array([row["round"] for row in read("p.jsonl")])
    assert np.corrcoef(found, rows[:, 0])[0, 1] > 0.9
    code, _, err = askwise("predict", "n", "--output", "p.jsonl", "--append")
    assert (code, "a number of the model is called 'round'" in err) == (2, True)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_numbers_that_hold_are_not_predicted_again(askwise, rows, kind):
    assert askwise("new", "n", "--features", "x.npy", "--number", "price")[0] == 0
    assert askwise("run", "n", "--oracle", "numbers.csv")[0] == 0
    command = ("predict", "n", "--output", f"p.{kind}", "--append", "--json")
    first, again = (json.loads(askwise(*command)[1]) for _ in range(2))
    assert (first["items"], again["items"], again["kept"]) == (30, 0, 30)


def test_what_a_label_is_must_be_one_thing(askwise, rows):
    both = askwise("new", "x", "--features", "x.npy", "--tags", "a,b", "--number", "n")
    assert both[2] == "askwise: an item has tags or numbers, not all of them; choose one\n"
    assert (
        "folders and examples name classes"
        in askwise("new", "x", "--features", "x.npy", "--tags", "a,b", "--example", "a=0")[2]
    )


def test_finishing_a_run_of_tags_tells_how_good_every_tag_was(askwise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).normal(size=(120, 4)).astype(np.float32)
    np.save("x.npy", x)
    tags = ["|".join(name for name, value in zip("ab", row, strict=False) if value > 0) for row in x]
    (tmp_path / "tags.csv").write_text(
        "row,label\n" + "".join(f"{at},{tag or 'none'}\n" for at, tag in enumerate(tags))
    )
    assert askwise("new", "t", "--features", "x.npy", "--tags", "a,b")[0] == 0
    assert askwise("run", "t", "--oracle", "tags.csv", "--set", "budget=80")[0] == 0
    code, out, err = askwise("finish", "t")
    assert code == 0, err
    assert not [line for line in out.splitlines() if line.endswith(": ")]  # no reason is left out
    assert "accuracy of every tag (95 % for all together), by test answers before this training:" in out
    assert [line.split()[:2] for line in out.splitlines() if line.startswith("  ")] == [
        ["a", "between"],
        ["b", "between"],
    ]
