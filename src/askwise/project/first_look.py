"""A dozen items as they were read, for a person to look at before anything is learned from them."""

import io
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image, ImageDraw

from askwise.errors import InputError
from askwise.files import write_whole
from askwise.pool import Pool
from askwise.pool.ahead import encoding_order
from askwise.pool.picture import has_pictures, picture_of

SHEET = "first-items.png"
_COUNT, _COLUMNS = 12, 4
_SIDE, _LINE, _GAP = 180, 16, 8  # pixels of a picture, of the name below it, and between two
_LETTERS, _TEXTS = 70, 3  # of a text that is printed, and how many are


@dataclass(frozen=True)
class FirstLook:
    """Some items drawn at random: a sheet of pictures, or the first words of texts; of rows neither."""

    sheet: Path | None = None
    shown: int = 0
    words: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """What there is to look at, for a person."""
        if self.sheet is not None:
            return [f"look at     {self.sheet}: {self.shown} of them, as they were read"]
        heads = ["such as", *[""] * len(self.words)]
        return [f"{head:<12}{words}" for head, words in zip(heads, self.words, strict=False)]


def first_look(pool: Pool, refused: Collection[str], folder: Path) -> FirstLook:
    """A dozen items of a pool; a sheet of them is written into the folder."""
    drawn = (name for name in encoding_order(list(pool.ids)) if name not in refused)
    some = [name for name, _ in zip(drawn, range(_COUNT), strict=False)]
    texts = [pool.original(name) for name in some[:_TEXTS]]
    if any(isinstance(text, str) for text in texts):
        return FirstLook(words=[_first_words(text) for text in texts if isinstance(text, str)])
    if not some or not has_pictures(pool):
        return FirstLook()
    path = folder / SHEET
    write_whole(path, _sheet(pool, some))
    return FirstLook(path, len(some))


def _first_words(text: str) -> str:
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= _LETTERS else f"{line[:_LETTERS].rsplit(' ', 1)[0]} ..."


def _sheet(pool: Pool, names: list[str]) -> bytes:
    """The pictures side by side with their names, as a PNG."""
    rows = -(-len(names) // _COLUMNS)
    wide, high = _SIDE + _GAP, _SIDE + _LINE + _GAP
    whole = Image.new("RGB", (_COLUMNS * wide + _GAP, rows * high + _GAP), "white")
    draw = ImageDraw.Draw(whole)
    for place, name in enumerate(names):
        left, top = _GAP + place % _COLUMNS * wide, _GAP + place // _COLUMNS * high
        try:
            picture = picture_of(pool, name, side=_SIDE).convert("RGB")
            whole.paste(picture, (left + (_SIDE - picture.width) // 2, top + (_SIDE - picture.height) // 2))
        except InputError:
            draw.rectangle(
                (left, top, left + _SIDE, top + _SIDE), outline="grey"
            )  # met later, and said there
        # what the built-in letters do not have is a question mark
        shown = pool.name(name).rpartition("/")[2].encode("ascii", "replace").decode()
        draw.text((left, top + _SIDE + 2), shown[-28:], fill="black")
    stream = io.BytesIO()
    whole.save(stream, "PNG")
    return stream.getvalue()
