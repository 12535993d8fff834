"""`askwise labelstudio` takes labels in once, and says in one line what it cannot do."""

import json

import numpy as np
import pytest

from askwise import pool


@pytest.fixture
def shades(askwise, tmp_path):
    rows = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    code, _, err = askwise(
        "new", tmp_path / "shades", "--arrays", tmp_path / "rows.npy", "--classes", "dark,light"
    )
    assert code == 0, err
    return tmp_path / "shades", list(pool.arrays(rows).ids)


def export(path, labels):
    def task(name, choice):
        value = {"from_name": "shade", "to_name": "it", "type": "choices", "value": {"choices": [choice]}}
        return {"data": {"id": name}, "annotations": [{"completed_by": 3, "result": [value]}]}

    path.write_text(json.dumps([task(*pair) for pair in labels.items()]))
    return path


def test_labels_of_an_export_are_taken_in_once(askwise, shades, tmp_path):
    project, ids = shades
    file = export(tmp_path / "e.json", {**dict.fromkeys(ids[:8], "dark"), ids[8]: "light", "nobody": "light"})
    code, out, err = askwise("labelstudio", "import", project, file, "--json")
    assert code == 0, err
    first = json.loads(out)
    assert first["new"] == first["labels"] > 0
    assert "nobody" in first["left_out"]
    assert first["labels"] + len(first["left_out"]) == 10  # some items are kept for testing
    again = json.loads(askwise("labelstudio", "import", project, file, "--json")[1])
    assert (again["labels"], again["new"]) == (first["labels"], 0)


def test_what_is_missing_is_said_in_one_line(askwise, shades, tmp_path, monkeypatch):
    project, ids = shades
    monkeypatch.delenv("LABEL_STUDIO_API_KEY", raising=False)
    file = export(tmp_path / "e.json", {ids[0]: "bright"})
    for words, line in (
        (["import", project], "name a JSON export"),
        (["import", project, file], "'bright'"),
        (["import", project, "--url", "http://127.0.0.1:9", "--project", "1"], "LABEL_STUDIO_API_KEY"),
        (["push", project], "say where Label Studio is"),
        (["push", project, "--url", "http://127.0.0.1:9", "--by", "luck"], "unknown uncertainty 'luck'"),
    ):
        code, _, err = askwise("labelstudio", *words)
        assert (code, len(err.splitlines())) == (2, 1), err
        assert line in err
