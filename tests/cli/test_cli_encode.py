"""`askwise encode`: what it computes ahead, no other command computes again."""

import numpy as np
import pytest
from PIL import Image

# what a trace looks at is all zeros: only the pictures are counted
ENCODER = """
from torch import nn

class Means(nn.Module):
    size, width, licence = 8, 3, "CC0"
    def forward(self, x):
        with open("encoded.log", "a") as log:
            log.write("x" * int(x.flatten(1).any(dim=1).sum()))
        return x.mean(dim=(2, 3))

def make():
    return Means()
"""


@pytest.fixture
def pets(askwise, tmp_path, monkeypatch):
    """A project of sixteen pictures, none of them encoded."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_counted.py").write_text(ENCODER)
    (tmp_path / "photos").mkdir()
    rng = np.random.default_rng(0)
    for number in range(16):
        low = 20 + 120 * (number % 2)
        Image.fromarray(rng.integers(low, low + 100, (8, 8, 3), np.uint8)).save(
            tmp_path / "photos" / f"{number:02d}.png"
        )
    (tmp_path / "labels.csv").write_text("id,label\n" + "".join(f"{n:02d}.png,{n % 2}\n" for n in range(16)))
    new = ("new", "pets", "--images", "photos", "--encoder", "own_counted:make", "--classes", "0,1")
    assert askwise(*new, "--ask-copies")[0] == 0
    return tmp_path


def encoded(folder):
    """How many pictures went through the encoder since the last look."""
    log = folder / "encoded.log"
    count = len(log.read_text()) if log.exists() else 0
    log.unlink(missing_ok=True)
    return count


def test_what_was_encoded_ahead_is_not_encoded_again(askwise, pets):
    encoded(pets)
    code, out, _ = askwise("encode", "pets")
    assert (code, out) == (0, "pets: 16 items are encoded\n")
    assert encoded(pets) >= 16
    assert askwise("run", "pets", "--oracle", "labels.csv", "--set", "budget=12")[0] == 0
    assert encoded(pets) <= 1  # of those that are kept one is computed once more, as a proof
    assert askwise("predict", "pets")[0] == 0
    assert encoded(pets) <= 1
    assert sorted(path.name for path in (pets / "pets").glob("*.features")) == ["store.db.features"]


def test_a_run_without_it_encodes_the_pictures_itself(askwise, pets):
    encoded(pets)
    assert askwise("run", "pets", "--oracle", "labels.csv", "--set", "budget=12")[0] == 0
    assert encoded(pets) >= 16


def test_there_is_nothing_to_compute_without_an_encoder(askwise, pets):
    assert askwise("new", "bare", "--images", "photos", "--classes", "0,1", "--encoder", "none")[0] == 0
    assert "bare has no encoder; there is nothing to compute ahead" in askwise("encode", "bare")[2]
