"""Stable ids: derived from what an item is or where it lies, never from its position."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b

import numpy as np

from askwise.errors import InputError

_BYTES = 10  # 80 bits: two of a billion different items meet once in a million pools


def of_array(item: np.ndarray) -> str:
    """The id of an array: its type, shape and values."""
    digest = blake2b(f"{item.dtype.str}{item.shape}".encode(), digest_size=_BYTES)
    digest.update(np.ascontiguousarray(item).data)
    return digest.hexdigest()


def of_text(text: str) -> str:
    """The id of a text: its bytes; what is not UTF-8 counts as the bytes it came from."""
    try:
        content = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a letter, as JSON can write it
        content = text.encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=_BYTES).hexdigest()


def of_path(name: str) -> str:
    r"""A relative path as one printable line; `\` starts an escape, so no two paths share an id."""
    return "".join(map(_printable, name))


def _printable(letter: str) -> str:
    if letter == "\\":
        return "\\\\"
    if "\udc80" <= letter <= "\udcff":  # a byte that is not UTF-8, as Python's file names carry it
        return f"\\x{ord(letter) - 0xDC00:02x}"
    return letter if letter.isprintable() else f"\\u{ord(letter):04x}"


def numbered(ids: Iterable[str]) -> Iterator[str]:
    """The ids, with `~2`, `~3`, ... on repeats.

    Repeats have the same content, so it does not matter which of them comes first.
    """
    seen: dict[str, int] = {}
    for identity in ids:
        times = seen[identity] = seen.get(identity, 0) + 1
        yield numbered_as(identity, times)


def numbered_as(identity: str, time: int) -> str:
    """The id of what occurs for the first, second, ... time."""
    return identity if time == 1 else f"{identity}~{time}"


def given(ids: Iterable[object], count: int) -> list[str]:
    """The caller's own ids as strings; one for each item, no two alike."""
    own = [str(identity) for identity in ids]
    if len(own) != count:
        raise InputError(f"one id for each of the {count} items is wanted, not {len(own)}")
    if len(set(own)) < count:
        seen: set[str] = set()
        twice = next(identity for identity in own if identity in seen or seen.add(identity))  # type: ignore[func-returns-value]
        raise InputError(f"ids must be unique, and {twice!r} occurs twice")
    return own
