"""Real pools as a frozen encoder sees them: features and labels, computed once and kept in a folder.

    ASKWISE_DATA=... python benchmarks/frozen.py [fashion_mnist,xed]

Photos go the way of `askwise new --images`: files, Lite2 at 320 px. Texts go through MiniLM. Which items
are in the pool and which are tested is decided by a hash of their ids.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import safetensors.torch
import torch
from PIL import Image
from torch import Tensor
from trashnet import photos

import askwise as aw
from askwise import data
from askwise.files import write_whole
from askwise.seeding import hashes

HOME = Path(__file__).parent.parent / ".runs" / "frozen"
POOL, TEST = 2_000, 1_000
CLASSES = {"xed": 8, "fashion_mnist": 10, "trec": 6, "trashnet": 6, "cifar10": 10}
ENCODERS = {
    "xed": "minilm",
    "trec": "minilm",
    **dict.fromkeys(("fashion_mnist", "trashnet", "cifar10"), "lite2"),
}
SETS = tuple(CLASSES)


@dataclass(frozen=True)
class Frozen:
    """Features [N, D] and labels of a pool and of the items it is tested on."""

    classes: int
    pool_x: Tensor
    pool_y: Tensor
    test_x: Tensor
    test_y: Tensor


def frozen(name: str) -> Frozen:
    """A set, from the folder where it is kept, or computed."""
    path = HOME / f"{name}.safetensors"
    if not path.exists():
        started = perf_counter()
        parts = _photos_of_trashnet() if name == "trashnet" else _of_data_set(name)
        HOME.mkdir(parents=True, exist_ok=True)
        write_whole(path, safetensors.torch.save(parts))
        sizes = f"{len(parts['pool_x'])} + {len(parts['test_x'])}"
        print(f"{name}: {sizes} in {perf_counter() - started:.0f} s", flush=True)
    parts = safetensors.torch.load(path.read_bytes())
    return Frozen(CLASSES[name], **parts)


def _of_data_set(name: str) -> dict[str, Tensor]:
    options = {"xed": {"language": "en"}}.get(name, {})
    found = data.load(name, **options)
    parts: dict[str, Tensor] = {}
    for part, count in (("pool", POOL), ("test", TEST)):
        side = "train" if part == "pool" else "test"
        items, labels = getattr(found, f"{side}_x"), getattr(found, f"{side}_y")
        order = hashes(0, getattr(found, f"{side}_ids")).argsort(stable=True)
        if labels.ndim == 2:  # of several tags those items that have one
            order = order[labels[order].sum(dim=1) == 1]
            labels = labels.argmax(dim=1)
        chosen = order[:count]
        parts[f"{part}_y"] = labels[chosen]
        texts = isinstance(items, list)
        parts[f"{part}_x"] = (
            _texts([items[at] for at in chosen.tolist()]) if texts else _pictures(items[chosen])
        )
    return parts


def _texts(texts: Sequence[str]) -> Tensor:
    encoder = aw.encoders.load("minilm")
    tokens = encoder.module.tokens(texts, length=48)
    return aw.pool.features(aw.pool.arrays(tokens), encoder.module)[0 : len(texts)]


def _pictures(pixels: Tensor) -> Tensor:
    encoder = aw.encoders.load("lite2")
    with tempfile.TemporaryDirectory() as scratch:
        for number, picture in enumerate((pixels * 255).round().to(torch.uint8)):
            plain = picture[0] if len(picture) == 1 else picture.permute(1, 2, 0)
            Image.fromarray(np.asarray(plain)).save(Path(scratch, f"{number:06d}.png"))
        pool = aw.pool.images(scratch, **encoder.reading)
        return aw.pool.features(pool, encoder.module)[0 : len(pixels)]


def _photos_of_trashnet() -> dict[str, Tensor]:
    encoder = aw.encoders.load("lite2")
    with tempfile.TemporaryDirectory() as scratch:
        photos(Path(os.environ["ASKWISE_DATA"], "trashnet", "photos.zip"), Path(scratch))
        pool = aw.pool.images(scratch, **encoder.reading)
        ids = list(pool.ids)
        x = aw.pool.features(pool, encoder.module)[0 : len(ids)]
    names = sorted({identity.partition("/")[0] for identity in ids})
    y = torch.tensor([names.index(identity.partition("/")[0]) for identity in ids])
    order = hashes(0, ids).argsort(stable=True)
    pool_at, test_at = order[: len(ids) * 3 // 4], order[len(ids) * 3 // 4 :]
    return {"pool_x": x[pool_at], "pool_y": y[pool_at], "test_x": x[test_at], "test_y": y[test_at]}


if __name__ == "__main__":
    torch.set_num_threads(1)
    for each in sys.argv[1].split(",") if len(sys.argv) > 1 else SETS:
        frozen(each)
