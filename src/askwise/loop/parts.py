"""The labelled data that come with a plan: initial labels, and what is only measured."""

from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from torch import Tensor

from askwise.errors import InputError
from askwise.loop.plan import Part
from askwise.loop.setting import Labelled
from askwise.pool.arrays import ArraySource, as_tensor
from askwise.pool.pool import Pool
from askwise.store.classes import position


def initial_part(given: Any, pool: Pool) -> tuple[Part, Mapping[str, Any]]:
    """What the plan says of the initial labels, and those that are known already.

    Ids without labels are asked about first; inputs with labels join the pool.
    """
    if given is None or isinstance(given, int):
        return Part(count=given or 0), {}
    labels: Mapping[str, Any]
    if isinstance(given, tuple) and len(given) == 2 and not isinstance(given[0], str):
        rows = _rows("initial", given)
        source = ArraySource(rows, scale=None, ids=None)
        pool.add(source)
        labels = dict(zip(source.ids, given[1], strict=True))
    elif isinstance(given, Mapping):
        labels = given
    else:
        ids = tuple(map(str, given))
        _known("initial", ids, pool)
        return Part(count=len(ids), ids=ids), {}
    _known("initial", labels, pool)
    return Part(count=len(labels), sha256=_digest(sorted(map(str, labels)))), labels


def measured_part(
    name: str, given: Any, pool: Pool, classes: Sequence[str]
) -> tuple[Part, Labelled | None, frozenset[str]]:
    """What the plan says of data that are only measured, the data, and the items they hold out."""
    if given is None:
        return Part(), None, frozenset()
    if isinstance(given, Mapping):
        _known(name, given, pool)
        reading = pool.read(list(given))
        if reading.quarantined:
            first, why = next(iter(reading.quarantined.items()))
            raise InputError(f"{name} item {first!r} cannot be used: {why}; leave it out")
        inputs, told, held = reading.inputs, [given[identity] for identity in given], frozenset(given)
    elif isinstance(given, tuple) and len(given) == 2:
        inputs, told, held = as_tensor(_rows(name, given)), list(given[1]), frozenset()
    else:
        raise InputError(f"{name} is inputs with labels (x, y), or labels by id, not {type(given).__name__}")
    labels = torch.tensor([position(label, classes, what=f"a {name} label") for label in told])
    digest = _digest([inputs.shape, labels.tolist(), inputs.numpy().tobytes()])
    return Part(count=len(labels), ids=tuple(sorted(held)), sha256=digest), Labelled(inputs, labels), held


def _rows(name: str, given: tuple[Any, Any]) -> np.ndarray:
    inputs, labels = given
    rows = inputs.detach().cpu().numpy() if isinstance(inputs, Tensor) else np.asarray(inputs)
    if rows.ndim == 0 or rows.dtype.kind not in "fiub":
        raise InputError(f"{name} inputs must be an array of numbers, not {rows.dtype} of shape {rows.shape}")
    if len(rows) != len(labels):
        raise InputError(f"{name} has {len(rows)} inputs and {len(labels)} labels; give one label for each")
    if not len(rows):
        raise InputError(f"{name} is empty; leave it out instead")
    return rows


def _known(name: str, ids: Collection[str], pool: Pool) -> None:
    if not ids:
        raise InputError(f"{name} is empty; leave it out instead")
    strange = next((identity for identity in ids if identity not in pool), None)
    if strange is not None:
        raise InputError(f"{name} names the item {strange!r}, which the pool does not have")


def _digest(parts: Sequence[Any]) -> str:
    digest = sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
    return digest.hexdigest()
