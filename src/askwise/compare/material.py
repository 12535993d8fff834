"""The items of a protocol, as they are learned from, and a network of their size."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from askwise import encoders
from askwise.compare.ood import ood_items
from askwise.compare.protocol import DATA, Protocol
from askwise.data import NAMES, Dataset, load
from askwise.encoders import Encoder
from askwise.errors import InputError
from askwise.loop.plan import make
from askwise.pool import arrays, features
from askwise.runs.build import network as sized_network
from askwise.runs.material import in_deviations, tokens
from askwise.seeding import hashes

LEARNED, TESTED = 4000, 1500
"""Texts that are encoded: the first by a hash of their ids, the same for every seed."""


@dataclass(frozen=True)
class Material:
    """Items to learn from and to test on with their labels, items of other data, and what labels name."""

    train: tuple[Float[Tensor, "N ..."], Tensor]
    test: tuple[Float[Tensor, "M ..."], Tensor]
    ood: Float[Tensor, "O ..."]
    classes: tuple[str, ...]


def material(
    protocol: Protocol, *, data_dir: str | Path | None = None, cache: Path | None = None
) -> Material:
    """The items of a protocol; the features of texts are kept in the folder `cache`, if there is one."""
    usual = DATA[protocol.data]
    data = load(protocol.data, data_dir=data_dir, **usual.options)
    encoder = None if usual.encoder is None else encoders.load(usual.encoder)
    if encoder is not None:
        return _encoded(protocol, data, encoder, data_dir=data_dir, cache=cache)
    train, test = torch.as_tensor(data.train_x), torch.as_tensor(data.test_x)
    if train.ndim == 2:
        train, test = in_deviations(train, train), in_deviations(test, train)
    _enough(protocol, len(train))
    ood = ood_items(protocol.ood, test, data_dir=data_dir)
    return Material((train, data.train_y), (test, data.test_y), ood, data.classes)


def network(protocol: Protocol, items: Material) -> nn.Module:
    """The protocol's network, as large as its items and labels need it."""
    task = protocol.task
    values: dict[str, Any] = {"task": task, "network": protocol.network}
    if items.classes:
        values[task.made_of] = items.classes
    plan = make({**values, "network_options": dict(protocol.network_options)})
    return sized_network(plan, items.train[0][0])


def _enough(protocol: Protocol, count: int) -> None:
    if protocol.labels > count:
        raise InputError(
            f"{protocol.data} has {count:,} labels to learn from, not {protocol.labels:,}; "
            "ask for at most so many"
        )


def _encoded(
    protocol: Protocol, data: Dataset, encoder: Encoder, *, data_dir: str | Path | None, cache: Path | None
) -> Material:
    """Some of the texts as a frozen encoder sees them."""

    def part(one: Dataset, kind: str, most: int) -> tuple[Tensor, Tensor]:
        texts, ids = getattr(one, f"{kind}_x"), getattr(one, f"{kind}_ids")
        if not isinstance(texts, list):
            raise InputError(f"items of {one.name} are no texts, and those of {data.name} are; choose others")
        chosen = hashes(0, ids).argsort(stable=True)[:most]
        read = tokens(encoder, [texts[at] for at in chosen.tolist()])
        pool = arrays(read, ids=[ids[at] for at in chosen.tolist()])
        return features(pool, encoder.module, cache=cache)[0 : len(pool)], getattr(one, f"{kind}_y")[chosen]

    _enough(protocol, min(LEARNED, len(data.train_ids)))
    train, test = part(data, "train", LEARNED), part(data, "test", TESTED)
    if protocol.ood in NAMES:
        ood = part(load(protocol.ood, data_dir=data_dir), "test", TESTED)[0]
    else:
        ood = ood_items(protocol.ood, test[0], data_dir=data_dir)
    return Material(train, test, ood, data.classes)
