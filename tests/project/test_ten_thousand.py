"""Ten thousand files with every bad one among them: one line each, counts that sum, nothing added twice."""

import json
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.slow

FILES = 10_000
ENCODER = """
from torch import nn

class Means(nn.Module):
    size, width, licence = 8, 12, "CC0"
    def forward(self, x):
        return nn.functional.adaptive_avg_pool2d(x, 2).flatten(1)

def make():
    return Means()
"""


def claimed(path, width, height):
    """A PNG that claims a size and has no pixels."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk)


def bad_pictures(home, good):
    """Every kind of bad picture that reliability asks for, by a name; good content is taken from `good`."""
    whole = good.read_bytes()
    (home / "empty.jpg").touch()
    (home / "text.png").write_text("this is no picture")
    (home / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    flipped = bytearray(whole)
    flipped[2:40] = bytes(38)
    (home / "flipped.jpg").write_bytes(bytes(flipped))
    claimed(home / "huge.png", 20_000, 20_000)
    claimed(home / "nothing.png", 0, 0)
    (home / "script.svg.png").write_text("<svg><script>alert(1)</script></svg>")
    (home / "folder.jpg").mkdir()
    os.mkfifo(home / "pipe.jpg")
    (home / "outside.jpg").symlink_to("/etc/passwd")
    (home / "loop.jpg").symlink_to(home / "loop.jpg")
    (home / "x\n<script>'\".png").write_bytes(b"")
    (home / ("n" * 251 + ".jpg")).write_bytes(b"")
    with open(os.fsencode(home) + b"/not-\xff-utf8.jpg", "wb") as file:  # noqa: PTH123  bytes are no Path
        file.write(b"")
    still, other = Image.new("RGB", (9, 9)), Image.new("RGB", (9, 9), (255, 0, 0))
    still.save(home / "moves.gif", save_all=True, append_images=[other])
    return 15


def odd_pictures(home):
    """Pictures that are unusual and good: they count as items."""
    Image.new("RGB", (1, 1), (9, 9, 9)).save(home / "one.png")
    Image.new("1", (9, 9)).save(home / "bits.png")
    Image.new("CMYK", (9, 9)).save(home / "print.jpg")
    Image.new("P", (9, 9)).save(home / "palette.png")
    Image.fromarray((np.arange(64).reshape(8, 8) * 900).astype(np.uint16)).save(home / "deep.png")
    return 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("many")
    (home / "own_means.py").write_text(ENCODER)
    photos = home / "photos"
    rng = np.random.default_rng(0)
    photos.mkdir()
    for number in range(FILES):
        place = photos / f"{number % 100:02d}"
        place.mkdir(exist_ok=True)
        small = Image.fromarray(rng.integers(0, 255, (4, 4, 3), dtype=np.uint8))
        small.resize((16, 16)).save(place / f"{number}.jpg")
    return home


def test_bad_files_are_one_line_each_and_counts_sum_and_a_second_import_adds_nothing(
    askwise, folder, monkeypatch
):
    monkeypatch.chdir(folder)
    photos = folder / "photos"
    bad = bad_pictures(photos, photos / "00" / "0.jpg")
    odd = odd_pictures(photos)
    new = ("new", "many", "--images", "photos", "--classes", "a,b,c", "--encoder", "own_means:make", "--json")
    code, out, err = askwise(*new)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["items"] == found["new"] == FILES + bad + odd
    assert len(found["refused"]) == bad
    assert all(why and "\n" not in why for why in found["refused"].values())
    again = json.loads(askwise(*new)[1])
    assert (again["new"], again["items"]) == (0, found["items"])
    assert again["refused"] == found["refused"]
    code, out, err = askwise("predict", "many")
    assert (code, "has no model yet" in err) == (2, True)


def test_of_photos_that_are_there_three_times_no_batch_holds_two_copies(askwise, folder, monkeypatch):
    monkeypatch.chdir(folder)
    tripled = folder / "tripled"
    rng = np.random.default_rng(1)
    tripled.mkdir()
    for number in range(100):
        small = Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8))
        picture = small.resize((96, 96), Image.Resampling.NEAREST)
        for copy, quality in enumerate((95, 90, 85)):
            picture.save(tripled / f"{number:03d}-{copy}.jpg", quality=quality)
    new = ("new", "three", "--images", "tripled", "--classes", "a,b,c", "--encoder", "own_means:make")
    assert askwise(*new)[0] == 0
    labels = "".join(f"{n:03d}-{c}.jpg,{'abc'[n % 3]}\n" for n in range(100) for c in range(3))
    (folder / "labels.csv").write_text("file,label\n" + labels)
    assert askwise("run", "three", "--oracle", "labels.csv", "--set", "budget=100")[0] == 0
    assert askwise("export", "three", "--labels", "--output", "out.csv")[0] == 0
    asked = [line.partition("-")[0] for line in (folder / "out.csv").read_text().splitlines()[1:]]
    assert len(asked) == len(set(asked))  # no photo twice in the whole run, so not in a batch
    assert len(asked) > 50  # the control: the run asked about most of the hundred
