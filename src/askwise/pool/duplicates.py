"""Items that are there more than once: equal ones, and ones so alike that asking of both tells no more."""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import UInt64
from torch import Tensor

from askwise.errors import InputError
from askwise.pool.alike import distances, jaccard, picture_print, shingles, text_bands
from askwise.pool.ids import of_array
from askwise.pool.pool import Pool
from askwise.types import Features

Group = tuple[str, ...]
"""Ids of items that are copies of each other, in the order of the pool."""

_BITS = 28
"""Of 256 in which two pictures may differ: copies of photos stored anew differ in 0 to 28, others in more."""
_SHARE = 0.8  # of the pieces of two texts
_FLAT = 0.02  # deviation of the grey values: below, a fingerprint would be one of noise
_BLOCK = 1024  # rows whose products are in memory at a time


@dataclass(frozen=True)
class Duplicates:
    """Groups of equal items, groups of equal or near ones, and the pictures that could not be read."""

    exact: list[Group]
    groups: list[Group]
    unread: tuple[str, ...] = ()

    def line(self) -> str:
        """What was found, for a person."""
        if not self.groups:
            return "no duplicates"
        equal, near = (sum(len(group) - 1 for group in some) for some in (self.exact, self.groups))
        copies = f"{equal} exact and {near - equal} near copies in {len(self.groups)} groups"
        return f"{copies}; each group is asked once"


@runtime_checkable
class Pictured(Protocol):
    """A source of pictures in files."""

    def contents(self, ids: Sequence[str]) -> Sequence[str | None]:
        """What equal files have in common; None where one cannot be read."""

    def thumbnails(self, ids: Sequence[str]) -> Iterator[tuple[str, Tensor]]:
        """The pictures that can be read, grey and 64 pixels at each side."""


@runtime_checkable
class Written(Protocol):
    """A source of texts."""

    texts: dict[str, str]


def duplicates(pool: Pool, *, looked: Callable[[int], None] = lambda _: None) -> Duplicates:
    """The copies in a pool: equal ones, and near ones where items are pictures or texts.

    `looked` is called with how many more pictures were read.

    >>> pool = aw.pool.arrays(torch.tensor([[1.0], [2.0], [1.0]]), ids=["a", "b", "c"])
    >>> aw.pool.duplicates(pool).groups
    [('a', 'c')]
    """
    bad = pool.quarantined
    ids = [name for name in pool.ids if name not in bad]
    keys: dict[str, str] = {}
    texts: dict[str, str] = {}
    pictures: list[Iterator[tuple[str, Tensor]]] = []
    unread: dict[str, None] = {}

    def seen(found: Iterator[tuple[str, Tensor]]) -> Iterator[tuple[str, Tensor]]:
        for name, picture in found:
            unread.pop(name)
            looked(1)
            yield name, picture

    for source, mine in pool.parts(ids):
        if isinstance(source, Written):
            texts |= {name: source.texts[name] for name in mine}
        elif isinstance(source, Pictured):
            found = zip(mine, source.contents(mine), strict=True)
            keys |= {name: content for name, content in found if content is not None}
            unread |= dict.fromkeys(mine)
            pictures.append(seen(source.thumbnails(mine)))
        else:
            keys |= _contents(pool, mine)
    exact = equal(keys | texts)
    near = [*alike_pictures(chain.from_iterable(pictures)), *alike_texts(texts)]
    return Duplicates(merged(exact, order=ids), merged([*exact, *near], order=ids), tuple(unread))


def _contents(pool: Pool, ids: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for start in range(0, len(ids), _BLOCK):
        reading = pool.read(ids[start : start + _BLOCK])
        found |= {
            name: of_array(item.numpy()) for name, item in zip(reading.ids, reading.inputs, strict=True)
        }
    return found


def equal(keys: Mapping[str, Hashable]) -> list[Group]:
    """Groups of the ids with equal keys."""
    by_key: dict[Hashable, list[str]] = defaultdict(list)
    for name, key in keys.items():
        by_key[key].append(name)
    return [tuple(names) for names in by_key.values() if len(names) > 1]


def alike_pictures(pictures: Iterable[tuple[str, Tensor]]) -> list[Group]:
    """Groups of grey pictures [64, 64] whose fingerprints differ in few bits; flat ones are left out.

    A picture joins the groups of those before it that it is like. Every one is held against all
    others: the time grows with their number squared.
    """
    names: list[str] = []
    prints: list[UInt64[np.ndarray, " 4"]] = []
    for name, picture in pictures:
        grey = picture.double().numpy()
        if grey.std() > _FLAT:
            names.append(name)
            prints.append(picture_print(grey))
    table = np.array(prints, np.uint64).reshape(-1, 4)
    joined = np.zeros(len(names), bool)
    pairs: list[Group] = []
    for place, own in enumerate(table):
        if joined[place]:
            continue  # it stands behind the first it is like: a thousand copies are no million pairs
        others = place + 1 + (distances(own, table[place + 1 :]) <= _BITS).nonzero()[0]
        joined[others] = True
        pairs += [(names[place], names[other]) for other in others.tolist()]
    return merged(pairs, order=names)


def alike_texts(texts: Mapping[str, str]) -> list[Group]:
    """Groups of texts that share four fifths of their pieces of five letters with the first of a group."""
    met: dict[bytes, list[str]] = defaultdict(list)
    pieces: dict[str, frozenset[int]] = {}
    pairs: list[Group] = []
    for name, text in texts.items():
        own = shingles(text)
        keys = list(text_bands(own))
        candidates = {other for key in keys for other in met[key]}
        like = [(other, name) for other in candidates if jaccard(own, pieces[other]) >= _SHARE]
        if like:
            pairs += like
            continue
        pieces[name] = own
        for key in keys:
            met[key].append(name)
    return merged(pairs, order=list(texts))


def alike_features(ids: Sequence[str], features: Features, *, cosine: float) -> list[Group]:
    """Groups of items whose features point in one direction, at least by that cosine; every pair is seen."""
    if not 0 < cosine <= 1 or len(ids) != len(features):
        wanted = f"a cosine above 0 and up to 1, and one row for each of {len(ids)} ids"
        raise InputError(f"wanted are {wanted}; found: {cosine}, and {len(features)} rows")
    rows = torch.nn.functional.normalize(features.double(), dim=1)
    pairs: list[Group] = []
    for start in range(0, len(ids), _BLOCK):
        close = rows[start : start + _BLOCK] @ rows[start:].T >= cosine - 1e-12
        pairs += [
            (ids[start + one], ids[start + other]) for one, other in close.triu(diagonal=1).nonzero().tolist()
        ]
    return merged(pairs, order=ids)


def merged(groups: Iterable[Sequence[str]], *, order: Sequence[str]) -> list[Group]:
    """Groups without a common id: those that share one are joined. Ids and groups follow the order."""
    leader: dict[str, str] = {}

    def first(name: str) -> str:
        while leader.setdefault(name, name) != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    for group in groups:
        for name in group[1:]:
            leader[first(name)] = first(group[0])
    found: dict[str, list[str]] = defaultdict(list)
    for name in order:
        if name in leader:
            found[first(name)].append(name)
    return [tuple(names) for names in found.values() if len(names) > 1]


def once(ids: Sequence[str], groups: Iterable[Group], *, told: Collection[str] = ()) -> list[str]:
    """The ids that may be asked: of each group of copies the first, or none if one has a label.

    Chosen from these, no batch can hold two of a group, whatever chooses.

    >>> aw.pool.once(["a", "b", "c"], [("a", "c")])
    ['a', 'b']
    """
    group_of = {name: number for number, group in enumerate(groups) for name in group}
    seen = {group_of[name] for name in told if name in group_of}
    kept: list[str] = []
    for name in ids:
        number = group_of.get(name)
        if number is None or number not in seen:
            kept.append(name)
        if number is not None:
            seen.add(number)
    return kept
