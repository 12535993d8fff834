"""Masks as a file of COCO: what other tools expect, and the same masks when it is read."""

import json

import numpy as np
import pytest

from askwise.errors import InputError
from askwise.export.coco import UNKNOWN, read_coco, write_coco

CLASSES = ["sky", "road", "tree"]


def test_a_small_mask_is_written_as_coco_says(tmp_path):
    mask = np.array([[0, 1, 1], [0, 1, 255]], np.uint8)
    assert write_coco(tmp_path / "m.json", {"a.png": mask}, CLASSES, ignore=255) == 1
    found = json.loads((tmp_path / "m.json").read_text())
    assert found["images"] == [{"id": 1, "file_name": "a.png", "width": 3, "height": 2}]
    assert [one["name"] for one in found["categories"]] == CLASSES
    sky, road = found["annotations"]
    assert (sky["category_id"], sky["segmentation"]["counts"], sky["bbox"]) == (1, [0, 2, 4], [0, 0, 1, 2])
    assert (road["category_id"], road["segmentation"]["counts"]) == (2, [2, 3, 1])
    assert (road["area"], road["bbox"], road["iscrowd"]) == (3, [1, 0, 2, 2], 1)
    assert {one["image_id"] for one in found["annotations"]} == {1}
    assert len({one["id"] for one in found["annotations"]}) == 2


def test_masks_come_back_as_they_were(tmp_path):
    rng = np.random.default_rng(0)
    masks = {f"{number}.png": rng.integers(0, 3, (5, 7), np.uint8) for number in range(4)}
    masks["edge.png"] = np.where(rng.random((1, 9)) < 0.5, 2, UNKNOWN).astype(np.uint8)
    write_coco(tmp_path / "m.json", masks, CLASSES, ignore=UNKNOWN)
    found, classes = read_coco(tmp_path / "m.json")
    assert classes == CLASSES
    assert found.keys() == masks.keys()
    for name, mask in masks.items():
        np.testing.assert_array_equal(found[name], mask)


def test_what_is_no_mask_of_these_classes_is_refused(tmp_path):
    with pytest.raises(InputError, match="has class 3, and there are 3"):
        write_coco(tmp_path / "m.json", {"a": np.full((2, 2), 3, np.uint8)}, CLASSES)
    (tmp_path / "x.json").write_text('{"images": []}')
    with pytest.raises(InputError, match="no file of COCO"):
        read_coco(tmp_path / "x.json")


def test_a_project_of_masks_exports_them(askwise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    project = tmp_path / "streets"
    project.mkdir()
    np.save(tmp_path / "x.npy", rng.normal(size=(6, 3, 8, 8)).astype(np.float32))
    (tmp_path / "own_pixels.py").write_text(
        "from torch import nn\ndef make():\n    return nn.Conv2d(3, 3, 1)\n"
    )
    (project / "own_pixels.py").write_text((tmp_path / "own_pixels.py").read_text())
    (project / "plan.toml").write_text(
        'task = "segmentation"\nclasses = ["sky", "road", "tree"]\ndata = "x.npy"\n'
        'network = "own_pixels:make"\nacquire = "random"\ninitial = 3\nbudget = 3\n'
        '[posterior]\nname = "point"\n[training]\nepochs = 1\n'
    )
    masks = rng.integers(0, 3, (6, 8, 8), np.uint8)
    lines = ["row,label"]
    for number, mask in enumerate(masks):
        np.save(tmp_path / f"m{number}.npy", mask)
        lines.append(f"{number},m{number}.npy")
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    code, _, err = askwise("run", "streets", "--oracle", "labels.csv")
    assert code == 0, err
    code, out, err = askwise("export", "streets", "--labels", "--format", "coco")
    assert (code, err) == (0, "")
    assert "streets/exports/labels.json: 3 labels" in out
    found, _ = read_coco(project / "exports" / "labels.json")
    assert len(found) == 3
    assert all(any(np.array_equal(one, mask) for mask in masks) for one in found.values())
    (project / "plan.toml").write_text((project / "plan.toml").read_text().replace("segmentation", "bold"))
    assert askwise("export", "streets", "--labels", "--format", "coco")[0] == 2
