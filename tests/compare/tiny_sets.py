"""Data sets of every task in a few invented items, and an encoder of a few weights."""

import torch

from askwise.data.catalogue import STORED, task_of
from askwise.data.dataset import Dataset
from askwise.encoders import TEXTS, Encoder, Record
from askwise.nets import build

TRAIN, TEST = 30, 20
TINY = {
    "xed": {"network": "mlp,hidden=[6],dropout=0.1", "labels": 20},
    "uci/energy": {"network": "mlp,hidden=[6],dropout=0.1", "labels": 20},
    "camvid": {"network": "segnet_basic,width=2", "labels": 6},
}
SMALL = {"epochs": 3, "draws": 3}


def invented(name, **_):
    """Items like those of a data set, with labels that follow from them."""
    task, rng = task_of(name), torch.Generator().manual_seed(0)
    names, count = STORED[name].classes, TRAIN + TEST
    if task["name"] == "regression":
        x = torch.randn(count, 8, generator=rng) * 40 + 7
        y = 0.98 + 0.001 * x[:, :1]
    elif task["name"] == "segmentation":
        x = torch.rand(count, 3, 16, 16, generator=rng)
        y = torch.randint(0, len(names) + 1, (count, 16, 16), generator=rng)
    else:
        x = [f"word{number % 9} word{number % 7}" for number in range(count)]
        y = (torch.rand(count, len(names), generator=rng) < 0.3).float()
    ids = tuple(f"item-{number:02d}" for number in range(count))
    parts = (x[:TRAIN], y[:TRAIN], ids[:TRAIN], x[TRAIN:], y[TRAIN:], ids[TRAIN:])
    return Dataset(name, names, *parts, task=task["name"], ignore=task.get("ignore"))


def tiny_encoder(*_, **__):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = build("tiny_encoder", vocabulary=60, width=6).requires_grad_(False)
    return Encoder(Record("tiny", TEXTS, 8, 6, "none", 0, "", None), module, longest=8)
