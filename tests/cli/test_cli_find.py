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


def test_what_to_find_must_be_said_once(askwise, tmp_path):
    for words in ((), ("--like", "4", "--class", "3")):
        code, _, err = askwise("find", tmp_path, *words)
        assert (code, "say what to find: --like ITEM, or --class CLASS" in err) == (2, True)
