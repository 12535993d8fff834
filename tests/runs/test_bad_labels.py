"""Labels that do not fit the task, from a file: one line that names the place, and nothing is stored."""

import re

import numpy as np
import pytest
import torch
from PIL import Image
from task_runs import IDS, learner

from askwise.errors import InputError
from askwise.store import open_store
from askwise.store.facts import Answer

BAD = {
    "a tag outside the list": ("multilabel", "joy|jog", "line 3: .*'jog', which is no tag; did you mean"),
    "a tag of no kind": ("multilabel", "0.4", "line 3: .*which is no tag"),
    "a number that is none": ("regression", "nan", "line 3: .*must be a number, finite, not"),
    "a number without end": ("regression", "inf", "line 3: .*must be a number, finite, not"),
    "a word for a number": ("regression", "tall", "line 3: .*must be a number, not 'tall'"),
    "two numbers for one": ("regression", "1|2", "line 3: .*must be a number"),
    "a mask of another size": ("segmentation", "wide.png", "a mask of 6 x 6 pixels, and the .* 6 x 5"),
    "a mask of other classes": ("segmentation", "seven.png", "outside the 2 classes 0 to 1"),
    "a mask that is not there": ("segmentation", "none.png", "there is no such file"),
    "a class for a mask": ("segmentation", "dark", "there is no such file"),
    "a class outside the list": ("classification", "d", "line 3: .*'d', which is no class"),
    "a number for a class": ("classification", "0.5", "line 3: .*'0.5', which is no class"),
}
GOOD = {"multilabel": "joy", "regression": "310.5", "segmentation": "good.png", "classification": "a"}


@pytest.fixture
def masks(tmp_path):
    for name, shape, value in (("good", (6, 5), 0), ("wide", (6, 6), 0), ("seven", (6, 5), 7)):
        Image.fromarray(np.full(shape, value, np.uint8)).save(tmp_path / f"{name}.png")
    return tmp_path


def labels(folder, task, bad):
    """A file of labels for all items, of which that of the second does not fit."""
    cells = [GOOD[task], bad, *[GOOD[task]] * (len(IDS) - 2)]
    path = folder / "labels.csv"
    path.write_text("\n".join(["id,label", *(f'{n},"{c}"' for n, c in zip(IDS, cells, strict=True))]))
    return path


@pytest.mark.parametrize("case", BAD)
def test_a_file_oracle_is_refused_in_one_line_and_nothing_is_stored(case, masks):
    task, bad, match = BAD[case]
    with learner(task, masks / "run.db", initial=40, budget=40) as run:
        with pytest.raises(InputError, match=match) as error:
            run.run(oracle=labels(masks, task, bad))
        assert "\n" not in str(error.value)
    assert not answers(masks / "run.db")
    assert not list(masks.glob("run.db.masks/*"))


def answers(path):
    store = open_store(path, access="read")
    found = store.facts(Answer)
    store.close()
    return found


PLANS = {
    "multilabel": 'task = "multilabel"\ntags = ["joy", "anger", "love"]',
    "regression": 'task = "regression"\nnumbers = ["height"]',
    "classification": 'classes = ["a", "b", "c"]',
}


@pytest.mark.parametrize("how", ["--oracle", "test"])
@pytest.mark.parametrize("case", [case for case, (task, *_) in BAD.items() if task in PLANS])
def test_a_plan_with_such_a_file_is_refused_in_one_line_and_nothing_is_stored(case, how, tmp_path, askwise):
    task, bad, match = BAD[case]
    rows = torch.randn(len(IDS), 4, generator=torch.Generator().manual_seed(0)).tolist()
    table = [
        ",".join(["id", *"abcd"]),
        *(",".join([n, *map(str, r)]) for n, r in zip(IDS, rows, strict=True)),
    ]
    (tmp_path / "items.csv").write_text("\n".join(table))
    path = labels(tmp_path, task, bad)
    known = f'test = {{ file = "{path}" }}' if how == "test" else ""
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'{PLANS[task]}\ndata = "{tmp_path / "items.csv"}"\ndata_options = {{ id_column = "id" }}\n{known}\n'
        f'network = "linear"\nbudget = 8\nstore = "{tmp_path / "run.db"}"\n'
    )
    code, out, err = askwise("run", plan, *(["--oracle", path] if how == "--oracle" else []))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert re.search(match, err), err
    assert not (tmp_path / "run.db").exists() or not answers(tmp_path / "run.db")
