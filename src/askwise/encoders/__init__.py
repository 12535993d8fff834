"""Frozen networks that turn items into features, by name; offline once they are installed."""

from pathlib import Path

from askwise.encoders import folder as folders
from askwise.encoders import own
from askwise.encoders.packages import PACKAGED
from askwise.encoders.record import ENGLISH, PICTURES, ROWS, TEXTS, Encoder, Record, items_per_second
from askwise.encoders.sentences import SentenceEncoder
from askwise.errors import InputError, choose

__all__ = [
    "ENGLISH",
    "PICTURES",
    "ROWS",
    "TEXTS",
    "Encoder",
    "Record",
    "SentenceEncoder",
    "default",
    "first_pass",
    "items_per_second",
    "known",
    "load",
]

NONE = "none"


def known() -> list[Record]:
    """Every encoder that a package brings, with its place where it is installed.

    >>> [record.name for record in aw.encoders.known()]
    ['lite2', 'lite0', 'minilm', 'french']
    """
    return [kind.found() for kind in PACKAGED.values()]


def load(name: str | Path, *, folder: Path | None = None) -> Encoder | None:
    """The encoder of that name: of a package, a folder of Hugging Face, `module:attribute`, or `none`.

    With `none` there is no encoder, and a network learns from the items themselves. Modules of one's
    own are looked for in `folder` first.

    >>> encoder = aw.encoders.load("lite2")
    >>> encoder.reading, encoder.record.width
    ({'size': 320, 'channels': 3}, 1280)
    """
    text = str(name)
    if text == NONE:
        return None
    if text not in PACKAGED and Path(name).is_dir():
        return folders.load(Path(name))
    if ":" in text:
        return own.load(text, folder=folder)
    if Path(name).is_file():
        raise InputError(f"{text} is a file; an encoder is a folder with config.json and model.safetensors")
    return PACKAGED[choose("encoder (and no folder)", text, [*PACKAGED, NONE])].load()


def default(takes: str) -> str:
    """The name of the best encoder that is installed for these items; `none` where there is none.

    >>> aw.encoders.default(aw.encoders.ROWS)
    'none'
    """
    fit = (one for one in known() if one.takes == takes and one.language in (None, ENGLISH))
    return next((one.name for one in fit if one.place is not None), NONE)


def first_pass(name: str) -> str | None:
    """The name of a faster encoder of the same items to begin with, where one is installed.

    >>> aw.encoders.first_pass("minilm") is None  # there is one for photos only
    True
    """
    quick = PACKAGED["lite0"].found() if name == "lite2" else None
    return quick.name if quick is not None and quick.place is not None else None
