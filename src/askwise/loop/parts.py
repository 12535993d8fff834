"""The labelled data that come with a plan: initial labels, and what is only measured."""

from collections.abc import Collection, Container, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from torch import Tensor

from askwise.errors import InputError, choose, positive
from askwise.loop.plan import Plan, make
from askwise.loop.plan_fields import Initial, Part
from askwise.loop.score import chunks, subset
from askwise.loop.setting import Labelled
from askwise.oracle import known_labels, open_oracle
from askwise.oracle.labelling import Classes, Labelling
from askwise.pool.arrays import ArraySource, as_tensor
from askwise.pool.pool import Pool
from askwise.seeding import derive
from askwise.store.classes import position
from askwise.store.contract import Store
from askwise.store.facts import Planned


def initial_part(given: Any, pool: Pool) -> tuple[Part, Mapping[str, Any]]:
    """What the plan says of the initial labels, and those that are known already.

    Ids without labels are asked about first; inputs with labels join the pool. `balanced` decides
    which items make a balanced set.
    """
    if given is None or isinstance(given, int):
        return Part(count=given or 0), {}
    if _is_per_class(given, pool):
        return Initial(per_class=positive("per_class", given["per_class"])), {}
    labels: Mapping[str, Any]
    if isinstance(given, tuple) and len(given) == 2 and not isinstance(given[0], str):
        rows = _rows("initial", given)
        source = ArraySource(rows, scale=None, ids=None)
        pool.add(source)
        labels = dict(zip(source.ids, given[1], strict=True))
    elif isinstance(given, Mapping):
        labels = pool.by_id(given)
    else:
        ids = tuple(pool.lookup(key) or str(key) for key in given)
        _known("initial", ids, pool)
        return Part(count=len(ids), ids=ids), {}
    _known("initial", labels, pool)
    return Part(count=len(labels), sha256=_digest(sorted(map(str, labels)))), labels


def balanced(plan: Plan, labels: Any, pool: Pool, held: Container[str]) -> Plan:
    """The plan with the ids of `per_class` items of each class, decided by the seed and each id alone.

    `labels` are known in advance: labels by id, a file of them, or an oracle that has them. Items that
    are held out or cannot be read are left out.
    """
    wanted = plan.initial.per_class or 0
    if isinstance(labels, Mapping):
        labels = pool.by_id(labels)
    answers = None if labels is None else open_oracle(labels, classes=plan.classes, find=pool.find)
    known = None if answers is None else known_labels(answers)
    if known is None:
        raise InputError(
            "initial per class needs labels known in advance; run with --oracle labels.csv, or pass "
            f"initial={{'per_class': {wanted}, 'labels': ...}} with labels by id or a file of them"
        )
    members: list[list[str]] = [[] for _ in plan.classes]
    for name in pool.ids:
        if name in known and name not in held:
            members[position(known[name], plan.classes, what=f"the label of {name!r}")].append(name)
    ids: list[str] = []
    for label, names in zip(plan.classes, members, strict=True):
        readable: list[str] = []
        for some in chunks(subset(names, len(names), seed=derive(plan.seed, "initial")), wanted):
            readable += pool.read(some).ids
            if len(readable) >= wanted:
                break
        if len(readable) < wanted:
            raise InputError(
                f"initial per class wants {wanted} items of class {label!r}, and {len(readable)} with that "
                "label can be asked about; lower per_class, or label more of them"
            )
        ids += readable[:wanted]
    chosen = Initial(count=len(ids), ids=tuple(ids), per_class=wanted)
    return make(plan.model_dump() | {"initial": chosen})


def balanced_before(plan: Plan, store: Store) -> Plan | None:
    """The plan with the ids that the store has for it since the run began; None if it has none."""
    for past in store.facts(Planned)[::-1]:
        before = make(past.plan)
        if (before.seed, before.initial.per_class) == (plan.seed, plan.initial.per_class):
            return make(plan.model_dump() | {"initial": before.initial})
    return None


def measured_part(
    name: str, given: Any, pool: Pool, kind: Labelling
) -> tuple[Part, Labelled | None, frozenset[str]]:
    """What the plan says of data that are only measured, the data, and the items they hold out.

    Inputs with labels hold out the items of the pool with the same contents, every copy of them.
    """
    if given is None:
        return Part(), None, frozenset()
    if isinstance(given, Mapping):
        given = pool.by_id(given)
        _known(name, given, pool)
        reading = pool.read(list(given))
        if reading.quarantined:
            first, why = next(iter(reading.quarantined.items()))
            raise InputError(f"{name} item {first!r} cannot be used: {why}; leave it out")
        inputs, told, held = reading.inputs, [given[identity] for identity in given], frozenset(given)
    elif isinstance(given, tuple) and len(given) == 2:
        rows = _rows(name, given)
        inputs, told, held = as_tensor(rows), list(given[1]), frozenset(pool.equal(rows))
    else:
        raise InputError(f"{name} is inputs with labels (x, y), or labels by id, not {type(given).__name__}")
    labels = torch.stack([kind.row(kind.label(label, what=f"a {name} label")) for label in told])
    written = labels.tolist() if isinstance(kind, Classes) else labels.numpy().tobytes()
    digest = _digest([inputs.shape, written, inputs.numpy().tobytes()])
    return Part(count=len(labels), ids=tuple(sorted(held)), sha256=digest), Labelled(inputs, labels), held


def _is_per_class(given: Any, pool: Pool) -> bool:
    """Whether something was given as `{"per_class": 2, "labels": ...}`, and not as labels by id."""
    if not isinstance(given, Mapping) or "per_class" not in given or "per_class" in pool:
        return False
    for key in given:
        choose("key of initial", str(key), ("per_class", "labels"))
    return True


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
    unknown = next((identity for identity in ids if identity not in pool), None)
    if unknown is not None:
        raise InputError(f"{name} names the item {unknown!r}, which the pool does not have")


def _digest(parts: Sequence[Any]) -> str:
    digest = sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
    return digest.hexdigest()
