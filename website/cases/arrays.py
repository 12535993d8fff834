"""Arrays and saved models that do not hold what they should."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

import askwise as aw
from website.cases.outcome import refused


def cases() -> Iterator[tuple[str, str]]:
    """What each array and each model gets."""
    yield from _arrays()
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] > 0).long()
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    fitted = aw.fit(network, (x, y), training=aw.Training(epochs=1), seed=0)
    yield from _data(network, x, y)
    yield from _models(fitted)


def _arrays() -> Iterator[tuple[str, str]]:
    np.save("objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    yield "an array of objects (.npy)", refused(lambda: aw.pool.arrays("objects.npy"))
    np.save("good.npy", np.ones((4, 3)))
    good = Path("good.npy").read_bytes()
    Path("claims.npy").write_bytes(good.replace(b"(4, 3), ", b"(9999999999999, 3), ".ljust(8)))
    yield "a header that claims more than there is", refused(lambda: aw.pool.arrays("claims.npy"))
    Path("short.npy").write_bytes(good[:-8])
    yield "shorter than its header says", refused(lambda: aw.pool.arrays("short.npy"))
    yield "complex numbers", refused(lambda: aw.pool.arrays(np.ones((2, 2)) * 1j))
    yield "words", refused(lambda: aw.pool.arrays(np.array([["a"]])))
    broken = np.ones((2, 3), dtype=np.float32)
    broken[1, 0] = np.nan
    pool = aw.pool.arrays(broken)
    found = pool.read(list(pool.ids)).quarantined
    yield "NaN in an item", "set aside: " + "; ".join(found.values()) if found else "taken"


def _data(network: Any, x: Any, y: Any) -> Iterator[tuple[str, str]]:
    yield "more items than labels", refused(lambda: aw.fit(network, (x, y[:5])))
    yield "words as labels", refused(lambda: aw.fit(network, (x, ["a"] * 20)))
    yield "complex labels", refused(lambda: aw.fit(network, (x, y * 1j)))


def _models(fitted: aw.Fitted) -> Iterator[tuple[str, str]]:
    network = fitted.network
    fitted.save("model")
    weights = Path("model/weights.safetensors")
    whole = weights.read_bytes()
    weights.write_bytes(pickle.dumps({"a": 1}))
    yield "a pickle named .safetensors", refused(lambda: aw.load("model", network=network))
    weights.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    yield "one bit changed in a model", refused(lambda: aw.load("model", network=network))
    weights.write_bytes(whole)
    other = torch.nn.Sequential(torch.nn.Linear(3, 9), torch.nn.ReLU(), torch.nn.Linear(9, 5))
    yield (
        "a model of a network of other shapes (layers without weights are not compared)",
        refused(lambda: aw.load("model", network=other)),
    )
    yield "a model without its network", refused(lambda: aw.load("model"))
    yield "a model saved below a file", refused(lambda: fitted.save(weights / "model"))
    yield "a folder that is no model", refused(lambda: aw.load("."))
