"""Items as a person sees them: whatever a file holds, only pixels, plain text and cells leave the server."""

import io
import struct
import zlib

import numpy as np
import pytest
import torch
from PIL import Image

from askwise.errors import InputError
from askwise.loop.plan import make
from askwise.pool import arrays, images, table, text
from askwise.web.media import LARGEST, Media

CHOSEN = make({"classes": ["a", "b"]})


def opened(content):
    picture = Image.open(io.BytesIO(content))
    picture.load()
    return picture


def png_that_claims(wide, high):
    def chunk(kind, content):
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    header = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def test_a_picture_loses_everything_but_its_pixels_and_is_upright(tmp_path):
    whole = Image.new("RGB", (40, 20), "red")
    whole.putpixel((0, 0), (0, 0, 255))
    data = Image.Exif()
    data[0x0112] = 6  # turned by a quarter
    data[0x010E] = "<script>secret</script>"
    whole.save(tmp_path / "a.png", exif=data)
    content = Media(images(tmp_path), CHOSEN).picture("a.png", largest=1024)
    assert b"secret" not in content
    assert opened(content).size == (20, 40)
    assert opened(content).format == "WEBP"
    assert not opened(content).getexif()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16"])
def test_every_kind_of_picture_is_shown(tmp_path, mode):
    picture = Image.new("L", (30, 30), 100)
    if mode == "I;16":
        picture = Image.fromarray(np.full((30, 30), 30_000, np.uint16))
    else:
        picture = picture.convert("RGB").convert(mode)
    name = "a.jpg" if mode == "CMYK" else "a.png"
    picture.save(tmp_path / name)
    assert opened(Media(images(tmp_path), CHOSEN).picture(name, largest=64)).size == (30, 30)


def test_what_shines_through_is_white(tmp_path):
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(tmp_path / "a.png")
    found = opened(Media(images(tmp_path), CHOSEN).picture("a.png", largest=64))
    assert min(found.convert("RGB").getpixel((4, 4))) > 250


@pytest.mark.parametrize(
    "content",
    [
        png_that_claims(20_000, 20_000),
        png_that_claims(2**31 - 1, 2**31 - 1),
        png_that_claims(0, 0),
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
        b"GIF89a" + b"\xff" * 50,
    ],
)
def test_a_bomb_or_a_broken_picture_is_refused_in_one_sentence_and_others_are_shown(tmp_path, content):
    Image.new("RGB", (8, 8)).save(tmp_path / "good.png")
    (tmp_path / "bad.png").write_bytes(content)
    media = Media(images(tmp_path), CHOSEN)
    with pytest.raises(InputError, match="cannot be shown") as error:
        media.picture("bad.png", largest=512)
    assert "\n" not in str(error.value)
    assert media.picture("good.png", largest=512)


def test_a_picture_that_has_become_a_link_out_of_the_folder_is_refused(tmp_path):
    Image.new("RGB", (8, 8), "red").save(tmp_path / "secret.png")
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.new("RGB", (8, 8)).save(folder / "a.png")
    media = Media(images(folder), CHOSEN)
    (folder / "a.png").unlink()
    (folder / "a.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(InputError, match="leaves the folder"):
        media.picture("a.png", largest=64)


def test_pictures_are_never_larger_than_wanted_or_allowed(tmp_path):
    Image.new("RGB", (3000, 1000)).save(tmp_path / "a.png")
    media = Media(images(tmp_path), CHOSEN)
    assert opened(media.picture("a.png", largest=300)).size == (300, 100)
    assert max(opened(media.picture("a.png", largest=10**6)).size) == LARGEST


def test_small_arrays_of_pixels_are_enlarged_with_sharp_edges():
    pixels = torch.zeros(1, 1, 8, 8)
    pixels[0, 0, 0, 0] = 1
    pool = arrays(pixels, ids=["a"])
    found = opened(Media(pool, CHOSEN).picture("a", largest=1024)).convert("L")
    assert found.size == (256, 256)
    assert found.getpixel((20, 20)) > 200
    assert found.getpixel((200, 200)) < 50


def test_texts_are_whole_and_nothing_else_is_a_text():
    words = ["<b>one</b> " * 500, "two"]
    pool = text(words, encode=lambda texts: torch.zeros(len(texts), 2))
    media = Media(pool, CHOSEN)
    assert media.kind == "text"
    assert [media.text(name) for name in pool.ids] == words
    with pytest.raises(InputError, match="no picture"):
        media.picture(next(iter(pool.ids)), largest=64)


def test_a_row_is_shown_as_it_is_in_its_file(tmp_path):
    (tmp_path / "t.csv").write_text("size,colour\n1.50,red\n2.25,blue\n")
    pool = table(tmp_path / "t.csv")
    media = Media(pool, make({"classes": ["a", "b"], "data": str(tmp_path / "t.csv")}))
    assert media.kind == "row"
    assert [media.row(name) for name in pool.ids] == [
        [("size", "1.50"), ("colour", "red")],
        [("size", "2.25"), ("colour", "blue")],
    ]
    with pytest.raises(InputError, match="no text"):
        media.text(next(iter(pool.ids)))
    pool.add(arrays(np.array([[0.5, 1.0, 0.0]], np.float32), ids=["later"]))
    assert media.row("later") == [("0", "0.5"), ("1", "1"), ("2", "0")]


def test_a_row_of_an_array_is_its_numbers():
    pool = arrays(np.array([[1.5, -2.0]], np.float32), ids=["a"])
    assert Media(pool, CHOSEN).row("a") == [("0", "1.5"), ("1", "-2")]
