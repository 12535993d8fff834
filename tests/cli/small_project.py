"""A project of twelve rows, all of them labelled by their sign."""

import json
from pathlib import Path

import numpy as np


def make_project(askwise, folder):
    """The folder, in which a project `signs` was made."""
    rows = np.concatenate(
        [np.random.default_rng(0).normal(3, 1, (6, 2)), np.random.default_rng(1).normal(-3, 1, (6, 2))]
    )
    np.save("x.npy", rows.astype(np.float32))
    lines = ["row,label", *(f"{at},{'high' if at < 6 else 'low'}" for at in range(12))]
    (folder / "labels.csv").write_text("\n".join(lines))
    assert askwise("new", "signs", "--features", "x.npy", "--classes", "high,low")[0] == 0
    assert askwise("run", "signs", "--oracle", "labels.csv")[0] == 0
    return folder


def labels(askwise, project="signs"):
    assert askwise("export", project, "--labels", "--output", "out.jsonl")[0] == 0
    rows = map(json.loads, Path("out.jsonl").read_text().splitlines())
    return {row["id"]: row["label"] for row in rows}
