"""Every bad picture is quarantined by name and reason, and changes no other."""

import os
import zlib

import numpy as np
import pytest
import torch
from PIL import Image

from askwise.errors import InputError
from askwise.pool import Stretch, images

COLOURS = np.random.default_rng(0).integers(0, 256, size=(6, 8, 3), dtype=np.uint8)


def save(path, pixels=COLOURS, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)


def read(folder, **options):
    pool = images(folder, size=(6, 8), **options)
    return pool.read(list(pool.ids))


def png_claiming(width, height):
    def chunk(kind, body):
        return len(body).to_bytes(4) + kind + body + zlib.crc32(kind + body).to_bytes(4)

    header = width.to_bytes(4) + height.to_bytes(4) + bytes([8, 2, 0, 0, 0])
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


def jpeg(folder, cut=None):
    save(folder / "whole.jpg", np.tile(COLOURS, (20, 20, 1)))
    content = (folder / "whole.jpg").read_bytes()
    (folder / "whole.jpg").unlink()
    return content[: len(content) // 2] if cut else content


BAD = {
    "empty.png": (lambda path: path.write_bytes(b""), "it is an empty file"),
    "text.png": (lambda path: path.write_text("hello"), "it is not a picture in any of"),
    "script.png": (
        lambda path: path.write_text("<svg><script>alert(1)</script></svg>"),
        "it is not a picture",
    ),
    "cut.jpg": (lambda path: path.write_bytes(jpeg(path.parent, cut=True)), "it cannot be decoded"),
    "bomb.png": (lambda path: path.write_bytes(png_claiming(20_000, 20_000)), "it cannot be decoded: Decom"),
    "large.png": (lambda path: path.write_bytes(png_claiming(12_000, 12_000)), "12000 x 12000 pixels, more"),
    "none.png": (lambda path: path.write_bytes(png_claiming(0, 0)), "it "),
    "folder.jpg": (lambda path: path.mkdir(), "it is a folder, pipe or device"),
    "pipe.jpg": (lambda path: os.mkfifo(path), "it is a folder, pipe or device"),
    "out.jpg": (lambda path: path.symlink_to("/etc/passwd"), "it is a link that leaves the folder"),
    "up.jpg": (lambda path: path.symlink_to("../secret.png"), "it is a link that leaves the folder"),
    "loop.jpg": (lambda path: path.symlink_to(path.name), "it cannot be opened"),
    "dangling.jpg": (lambda path: path.symlink_to("gone.jpg"), "it is not there any more"),
    "moving.gif": (
        lambda path: Image.fromarray(COLOURS).save(
            path, save_all=True, append_images=[Image.fromarray(COLOURS[::-1])]
        ),
        "it has 2 pages or frames; pass stack=",
    ),
    "nan.tiff": (
        lambda path: save(path, np.full((4, 4), np.nan, np.float32)),
        "it holds NaN or infinite numbers",
    ),
    "infinite.tiff": (
        lambda path: save(path, np.full((4, 4), np.inf, np.float32)),
        "it holds NaN or infinite numbers",
    ),
    "text.heic": (lambda path: path.write_text("hello"), "it "),
    "damaged.tiff": (lambda path: path.write_bytes(b"II*\0" + bytes(range(200))), "it "),
}


@pytest.fixture
def folder(tmp_path):
    save(tmp_path / "pictures" / "good.png")
    save(tmp_path / "pictures" / "deep" / "good.png", COLOURS[::-1].copy())
    save(tmp_path / "secret.png")
    return tmp_path / "pictures"


def test_good_pictures_are_rgb_between_zero_and_one_under_their_paths(folder):
    (folder / "readme.txt").write_text("not an item")
    found = read(folder)
    assert found.ids == ["deep/good.png", "good.png"]
    assert torch.equal(found.inputs[1], torch.from_numpy(COLOURS).permute(2, 0, 1) / 255)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_picture_is_quarantined_and_changes_no_other(folder, name):
    before = read(folder)
    make, reason = BAD[name]
    make(folder / name)
    after = read(folder)
    assert list(after.quarantined) == [name]
    assert reason in after.quarantined[name]
    assert "\n" not in after.quarantined[name]
    assert after.ids == before.ids
    assert torch.equal(after.inputs, before.inputs)


@pytest.mark.slow
def test_ten_thousand_files_with_every_bad_one_among_them_are_counted_and_imported_once(folder):
    for name, (make, _) in BAD.items():
        make(folder / name)
    content = (folder / "good.png").read_bytes()
    for number in range(10_000 - len(BAD) - 2):
        (folder / f"{number}.png").write_bytes(content)
    pool = images(folder, size=(6, 8))
    found = pool.read(list(pool.ids))
    assert len(pool) == 10_000
    assert set(found.quarantined) == set(BAD)
    assert all(BAD[name][1] in why and "\n" not in why for name, why in found.quarantined.items())
    assert len(found.ids) + len(found.quarantined) == 10_000
    assert pool.add(images(folder, size=(6, 8))) == []
    assert len(pool) == 10_000


@pytest.mark.parametrize(
    "name",
    [b"new\nline.png", b"quo'te\".png", b"<script>.png", b"not-utf8-\xff.png", b"x" * 251 + b".png"],
)
def test_strange_names_are_items_like_any_other(folder, name):
    save(folder / "copy.png")
    (folder / "copy.png").rename(folder / os.fsdecode(name))
    found = read(folder)
    assert len(found.ids) == 3
    assert not found.quarantined
    assert all(identity.isprintable() for identity in found.ids)


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGBA", "CMYK"])
def test_other_colour_modes_are_brought_to_rgb_or_grey(tmp_path, mode):
    Image.fromarray(np.full((4, 4), 255, np.uint8)).convert(mode).save(tmp_path / "x.tiff")
    assert torch.equal(images(tmp_path, size=4).read(["x.tiff"]).inputs, torch.ones(1, 3, 4, 4))
    assert images(tmp_path, size=4, channels=1).read(["x.tiff"]).inputs.shape == (1, 1, 4, 4)


def test_sixteen_bits_are_scaled_not_clipped(tmp_path):
    Image.fromarray(np.array([[0, 32896, 65535]], dtype=np.uint16)).save(tmp_path / "x.png")
    whole = Stretch((0.0,), (65535.0,))
    found = images(tmp_path, size=(1, 3), channels=1, stretch=whole).read(["x.png"]).inputs
    assert (found.flatten() * 255).round().tolist() == [0, 128, 255]


def test_a_picture_is_turned_upright_as_its_camera_says(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held on its side
    save(tmp_path / "x.png", exif=exif)
    found = images(tmp_path, size=(8, 6)).read(["x.png"]).inputs[0]
    upright = torch.from_numpy(np.rot90(COLOURS, -1).copy()).permute(2, 0, 1) / 255
    assert torch.equal(found, upright)


def test_one_pixel_is_a_picture(tmp_path):
    save(tmp_path / "x.png", COLOURS[:1, :1])
    assert images(tmp_path, size=4).read(["x.png"]).inputs.shape == (1, 3, 4, 4)


def test_what_vanishes_between_listing_and_reading_is_quarantined(folder):
    pool = images(folder, size=(6, 8))
    (folder / "good.png").unlink()
    found = pool.read(list(pool.ids))
    assert found.quarantined == {"good.png": "it is not there any more"}
    assert found.ids == ["deep/good.png"]


def test_flipped_bytes_in_a_png_are_found_by_its_checksum(folder):
    content = bytearray((folder / "good.png").read_bytes())
    content[len(content) // 2] ^= 0xFF
    (folder / "good.png").write_bytes(content)
    assert "it cannot be decoded" in read(folder).quarantined["good.png"]


def test_folders_that_are_linked_are_not_followed(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    save(tmp_path / "elsewhere" / "other.png")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    assert len(read(folder).ids) == 2


def test_bad_options_and_folders_without_pictures_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        images(tmp_path / "no")
    with pytest.raises(InputError, match="holds no pictures; names end in"):
        images(tmp_path)
    save(tmp_path / "x.png")
    with pytest.raises(InputError, match="unknown number of channels '4'"):
        images(tmp_path, channels=4)
    with pytest.raises(InputError, match="size must be a whole number of at least 1, not 0"):
        images(tmp_path, size=0)
    with pytest.raises(InputError, match=r"unknown stack .* 'maximum'; did you mean 'max'"):
        images(tmp_path, stack="maximum")
    with pytest.raises(InputError, match="stack is the number of a page from 0"):
        images(tmp_path, stack=-1)
    with pytest.raises(InputError, match="bands are one or three numbers of channels"):
        images(tmp_path, bands=(0, 1))
    (tmp_path / "x.png").rename(tmp_path / "x.svg")
    with pytest.raises(InputError, match="holds no pictures"):
        images(tmp_path)
