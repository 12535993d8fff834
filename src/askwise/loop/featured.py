"""A run with a frozen encoder works on its features: computed once, and kept beside the store."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from askwise.bayes.place import called_layers
from askwise.bayes.posteriors import Posterior, as_posterior
from askwise.bayes.program.trace import predicting
from askwise.errors import InputError
from askwise.inputs import as_rows
from askwise.loop.plan import Plan
from askwise.math.digest import network_digest
from askwise.nets.encoded import Encoded, on_features
from askwise.pool import Pool, arrays, features
from askwise.pool.encoding import encode
from askwise.store.contract import Store
from askwise.train.progress import Follow, meter

_CHUNK = 256  # items read between two reports of progress


def head_of(network: nn.Module, like: Tensor, plan: Plan) -> Encoded | None:
    """The network as one that takes features; None where a part that learns comes before the features."""
    if not isinstance(network, Encoded) or not network.frozen or network.thaw:
        return None
    if plan.training.get("augment"):
        return None
    fixed = [*network.encoder.parameters(), *network.encoder.buffers()]
    moving = [*network.head.parameters(), *network.head.buffers()]
    if any(p.requires_grad for p in fixed) or {id(t) for t in fixed} & {id(t) for t in moving}:
        return None
    item = torch.zeros_like(like)[None]
    with predicting(network, dropout=False):
        found = network.encoder(item)
    if not isinstance(found, Tensor) or found.ndim != 2 or found.dtype != torch.float32:
        return None
    drawn = _drawn_layers(network, item, as_posterior(plan.posterior))
    return on_features(network) if all(f"{name}.".startswith("head.") for name in drawn) else None


def feature_pool(network: Encoded, pool: Pool, store: Store) -> Pool:
    """The features of a pool, kept in a folder beside the store: in `run.db.features` for `run.db`."""
    return features(pool, network.encoder, cache=feature_folder(store))


def feature_inputs(
    network: Encoded, inputs: Tensor, given: Any, pool: Pool, store: Store, follow: Follow
) -> Tensor:
    """The features of inputs that are measured, and given by (x, y) or by ids of the feature pool."""
    if not isinstance(given, Mapping):
        apart = arrays(inputs)
        pool, given = feature_pool(network, apart, store), apart.ids
    ids, parts = list(pool.by_id(given)), []
    with meter(len(ids), "encoding", unit="items", show=follow) as advance:
        for start in range(0, len(ids), _CHUNK):
            reading = pool.read(ids[start : start + _CHUNK])
            if reading.quarantined:
                first, why = next(iter(reading.quarantined.items()))
                raise InputError(f"item {first!r} cannot be measured by: {why}; leave it out")
            parts.append(reading.inputs)
            advance(len(reading.ids))
    return torch.cat(parts)


def seen_by(network: nn.Module, inputs: Any) -> Any:
    """Inputs as a trained network takes them: their features, if it works on those."""
    if not isinstance(network, Encoded) or not network.on_features:
        return inputs
    rows = as_rows(inputs)
    whole = rows if isinstance(rows, Tensor | np.ndarray) else rows[0 : len(rows)]
    return encode(network.encoder, whole)


def encoder_condition(network: nn.Module) -> Mapping[str, Any]:
    """What tells a frozen encoder from another: its digest."""
    if not isinstance(network, Encoded) or not network.frozen:
        return {}
    return {"encoder": network_digest(network.encoder, weights=True)}


def _drawn_layers(network: nn.Module, item: Tensor, config: Posterior) -> list[str]:
    """The layers that the posterior may draw: those it is placed on, and always the last one."""
    return [*list(called_layers(network, item))[-1:], *config.placed(network, item)]


def feature_folder(store: Store) -> Path | None:
    """Where the features of a run are kept; none if its store does not outlive the process."""
    return None if store.folder is None else store.folder.with_suffix(".features")
