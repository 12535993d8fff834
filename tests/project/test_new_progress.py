"""`askwise new` says what it does while it looks through many items."""

import numpy as np
from PIL import Image

from askwise.project.create import create
from askwise.project.sources import source


def test_a_new_project_tells_how_far_it_has_looked_and_taken_in(tmp_path, monkeypatch):
    monkeypatch.setattr("askwise.loop.opening._TOLD", 5)
    (tmp_path / "photos").mkdir()
    rng = np.random.default_rng(0)
    for number in range(12):
        pixels = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "photos" / f"{number}.png")
    told = []
    items = source("images", tmp_path / "photos", encoder="none")
    create(tmp_path / "project", items, names=["a", "b"], progress=lambda *said: told.append(said))
    assert [said for said in told if said[0] == "looking for copies"][-1] == ("looking for copies", 12, 12)
    assert [said for said in told if said[0] == "taking in"] == [("taking in", 5, 12), ("taking in", 10, 12)]
