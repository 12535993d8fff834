"""askwise find prints the items that are most like others, or of a class."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits
from tiny_plan import write_plan


@pytest.fixture
def plan(tmp_path, askwise):
    path = write_plan(tmp_path)
    code, _, err = askwise("run", path, "--oracle", "simulated")
    assert code == 0, err
    return path


def test_the_nearest_come_first_and_items_of_a_class_by_what_the_model_thinks(askwise, plan):
    code, out, err = askwise("find", plan, "--like", "4", "--count", "6", "--json")
    assert code == 0, err
    found = json.loads(out)["found"]
    assert len(found) == 6
    rows = load_digits().data.astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    alike = np.sort(rows @ rows[4])[::-1]
    assert found[0]["score"] <= alike[1] + 1e-4
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
    code, out, err = askwise("find", plan, "--class", "3", "--count", "2")
    assert code == 0, err
    assert "items that were looked at" in out


def test_an_id_that_looks_like_a_row_is_an_id(askwise, tmp_path):
    lines = ["key,a,b", *(f"{at + 1},{at}.5,{-at}.5" for at in range(12))]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    told = ["id,label", *(f"{at + 1},{'low' if at < 6 else 'high'}" for at in range(12))]
    (tmp_path / "labels.csv").write_text("\n".join(told))
    made = ("new", tmp_path / "own", "--table", tmp_path / "rows.csv", "--id-column", "key")
    assert askwise(*made, "--classes", "low,high")[0] == 0
    assert askwise("run", tmp_path / "own", "--oracle", tmp_path / "labels.csv")[0] == 0
    code, out, err = askwise("find", tmp_path / "own", "--like", "12", "--json")
    assert code == 0, err
    assert "12" not in [one["id"] for one in json.loads(out)["found"]]
    assert askwise("correct", tmp_path / "own", "12", "low")[1].startswith("12: high -> low")
    missing = askwise("find", tmp_path / "own", "--like", "none.jpg")[2]
    assert missing == "askwise: the pool has no item 'none.jpg'; call it by its id, row or name\n"


def test_what_to_find_must_be_said_once(askwise, tmp_path):
    for words in ((), ("--like", "4", "--class", "3")):
        code, _, err = askwise("find", tmp_path, *words)
        assert (code, "say what to find: --like ITEM, or --class CLASS" in err) == (2, True)
