"""Sums that show damage: one for each fact, and one for each commit, chained to the one before.

A sum is taken over typed bytes: whole numbers in decimal, floats in hexadecimal, texts with their
length. A fact's sum covers its kind, its place (revision and seq) and its fields, so that a fact can be
checked alone; a commit's covers the sums of its facts in order, the counts so far, and the commit before.
"""

from collections.abc import Iterable
from hashlib import blake2b, sha256
from typing import Any

SIZE = 16  # bytes of a fact's sum
START = "0" * 64  # what the first commit is chained to


def typed(value: Any) -> str:
    """One value as text that no other value has."""
    kind = type(value)
    if kind is str:
        return f"s{len(value)}:{value}"
    if kind is int:
        return f"i{value}"
    if value is None:
        return "n"
    if kind is float:
        return f"f{value.hex()}"
    raise TypeError(f"a stored value is {kind.__name__}")


def row_sum(kind: str, values: Iterable[Any]) -> bytes:
    """The sum of one fact: seq, revision and the fields, as they are in its row."""
    text = "\n".join([kind, *map(typed, values)])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=SIZE).digest()


def commit_sum(values: Iterable[Any]) -> str:
    """The sum of one commit: all its columns but this one."""
    return sha256("\n".join(map(typed, values)).encode("utf-8", "surrogatepass")).hexdigest()
