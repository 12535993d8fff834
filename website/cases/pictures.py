"""Pictures that are no pictures, or not what they seem."""

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

import askwise as aw
from askwise.pool.ids import of_path
from website.cases.outcome import aside, refused

_NOISE = np.random.default_rng(0).integers(0, 255, (40, 40, 3)).astype(np.uint8)

_TAKEN = {
    "an animated GIF": ": its first picture",
    "16 bits": ": spread over 0 to 1 by the pool's own range",
    "1 bit": ": as RGB",
    "CMYK": ": as RGB",
    "a palette": ": as RGB",
    "turned by EXIF": ": upright",
    "one pixel": ": brought to the size of the others",
}


def cases() -> Iterator[tuple[str, str]]:
    """Every bad picture in one pool, and what becomes of each."""
    home = Path("photos")
    home.mkdir()
    made = _broken(home) | _odd(home) | _places(home) | _names(home)
    pool = aw.pool.images(home, size=8)
    present = set(pool.ids)
    (home / "vanished.png").unlink()
    reading = pool.read(list(pool.ids))
    for what, name in made.items():
        identity = of_path(name)
        if identity in present:
            yield what, aside(reading.quarantined, identity) + _TAKEN.get(what, "")
        else:
            yield what, "not listed: no picture inside the folder"
    yield "a folder without pictures", _empty()


def _empty() -> str:
    Path("nothing").mkdir()
    return refused(lambda: aw.pool.images("nothing"))


def _broken(home: Path) -> dict[str, str]:
    (home / "empty.png").touch()
    (home / "text.png").write_text("no picture")
    for kind in ("jpg", "png"):
        Image.fromarray(_NOISE).save(home / f"cut.{kind}")
        whole = (home / f"cut.{kind}").read_bytes()
        (home / f"cut.{kind}").write_bytes(whole[: len(whole) // 2])
    Image.fromarray(_NOISE).save(home / "flipped.png")
    flipped = bytearray((home / "flipped.png").read_bytes())
    flipped[len(flipped) // 2] ^= 255
    (home / "flipped.png").write_bytes(bytes(flipped))
    (home / "huge.png").write_bytes(_png(20_000, 20_000))
    (home / "none.png").write_bytes(_png(0, 0))
    (home / "drawing.svg").write_text("<svg><script>alert(1)</script></svg>")
    Image.fromarray(_NOISE).save(home / "vanished.png")
    return {
        "an empty file": "empty.png",
        "text named .png": "text.png",
        "half a JPEG": "cut.jpg",
        "half a PNG": "cut.png",
        "a PNG with changed bytes": "flipped.png",
        "a PNG that claims 20,000 x 20,000 pixels": "huge.png",
        "a PNG of 0 x 0 pixels": "none.png",
        "an SVG with a script": "drawing.svg",
        "a file that vanished since it was listed": "vanished.png",
    }


def _png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )


def _odd(home: Path) -> dict[str, str]:
    picture = Image.fromarray(_NOISE)
    Image.fromarray(_NOISE[:1, :1]).save(home / "dot.png")
    picture.convert("P").save(home / "moving.gif", save_all=True, append_images=[picture.convert("P")])
    Image.fromarray(_NOISE[:, :, 0].astype(np.uint16) * 200).save(home / "deep.png")
    picture.convert("1").save(home / "bits.png")
    picture.convert("CMYK").save(home / "print.jpg")
    picture.convert("P").save(home / "palette.png")
    turned = Image.Exif()
    turned[0x0112] = 6
    picture.save(home / "turned.jpg", exif=turned)
    return {
        "one pixel": "dot.png",
        "an animated GIF": "moving.gif",
        "16 bits": "deep.png",
        "1 bit": "bits.png",
        "CMYK": "print.jpg",
        "a palette": "palette.png",
        "turned by EXIF": "turned.jpg",
    }


def _places(home: Path) -> dict[str, str]:
    (home / "folder.jpg").mkdir()
    os.mkfifo(home / "pipe.jpg")
    Image.fromarray(_NOISE).save("outside.png")
    (home / "out.png").symlink_to(Path("outside.png").resolve())
    (home / "loop.png").symlink_to(home.resolve() / "loop.png")
    (home / "back").symlink_to(home.resolve(), target_is_directory=True)
    return {
        "a folder named x.jpg": "folder.jpg",
        "a pipe named x.jpg": "pipe.jpg",
        "a link to a picture outside": "out.png",
        "a link to itself": "loop.png",
        "a link back to the folder": "back",
    }


def _names(home: Path) -> dict[str, str]:
    names = {
        "a name with a line break": "a\nb.png",
        "a name with quotes and a tag": "\"'<script>.png",
        "a name of 255 characters": "x" * 251 + ".png",
    }
    for name in names.values():
        Image.fromarray(_NOISE).save(home / name)
    return names
