"""Encoders are compared by the labels of a project, and none may be good enough."""

import numpy as np
import pytest
import torch
from PIL import Image

from askwise import encoders
from askwise.project.compare import Compared, _left_out, verdict


def test_the_interval_is_wilsons():
    low, high = Compared("a", 8, 10, 0.5).interval
    assert (low, high) == (pytest.approx(0.4902, abs=1e-3), pytest.approx(0.9433, abs=1e-3))


def test_no_encoder_may_separate_the_classes():
    found = [Compared("a", 28, 50, 0.5), Compared("b", 26, 50, 0.5)]
    assert verdict(found, now="a").startswith("no encoder separates your classes yet")


def test_the_best_is_named_only_where_it_is_sure():
    good, bad, near = Compared("a", 45, 50, 0.3), Compared("b", 20, 50, 0.3), Compared("c", 43, 50, 0.3)
    assert verdict([good, near], now="a") == "stay with a"
    assert verdict([good, bad], now="b") == "a separates your classes better: set encoder = 'a' in plan.toml"
    assert verdict([good, near], now="c") == "a may be better than c; it is not sure"


def test_items_are_told_by_a_model_that_has_not_seen_them():
    rng = torch.Generator().manual_seed(0)
    y = torch.arange(60) % 3
    noise = torch.randn(60, 20, generator=rng)
    apart = noise + 6 * torch.nn.functional.one_hot(y, 20)
    assert _left_out(apart, y, 3) >= 57
    assert _left_out(noise, y, 3) < 40  # the control: with noise alone a model cannot know


def test_a_project_with_few_labels_is_told_how_many_are_wanted(askwise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{n},{n * n}\n" for n in range(9)))
    assert askwise("new", "few", "--table", "t.csv", "--classes", "x,y")[0] == 0
    assert "few has 0 labels; encoders are compared from 50 on" in askwise("encoders", "few")[2]


def test_status_says_what_the_comparison_said(askwise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two_means.py").write_text(
        "from torch import nn\n"
        "class Means(nn.Module):\n"
        "    size, width, licence = 8, 3, 'CC0'\n"
        "    def forward(self, x):\n"
        "        return x.mean(dim=(2, 3))\n"
        "def make():\n"
        "    return Means()\n"
    )
    rng = np.random.default_rng(0)
    for number in range(60):
        place = tmp_path / "photos" / ("dark" if number % 2 else "light") / f"{number}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        low = 0 if number % 2 else 150
        Image.fromarray(rng.integers(low, low + 100, (8, 8, 3), np.uint8)).save(place)
    known = [record for record in encoders.known() if record.takes != encoders.PICTURES]
    monkeypatch.setattr(encoders, "known", lambda: known)  # those of this machine would take seconds each
    new = ("new", "tones", "--images", "photos", "--encoder", "two_means:make", "--labels-from-folders")
    assert askwise(*new)[0] == 0
    assert askwise("run", "tones", "--set", "budget=60")[0] == 0
    assert "encoder" not in askwise("status", "tones")[1]
    code, out, err = askwise("encoders", "tones")
    assert (code, err) == (0, "")
    assert "stay with two_means:make" in out
    assert "encoder stay with two_means:make (by 60 labels)" in askwise("status", "tones")[1]
