"""Photos of rubbish under the frozen photo encoders: accuracy with few labels in each class.

    ASKWISE_DATA=... python benchmarks/trashnet.py [--encoders lite2,lite0] [--cache DIR]

TrashNet is a development set: encoder, size and axes were chosen on it. Labels are drawn at random,
all other photos are the test set; the head is a logistic regression on the pool's principal axes
(weighted by the root of their variance), its prior variance fixed at 10.
"""

import argparse
import os
import statistics
import tempfile
import zipfile
from pathlib import Path

import torch
from sklearn.linear_model import LogisticRegression

import askwise as aw
from askwise.pool.axes import fit_axes
from askwise.seeding import generator

SEEDS = range(10)
LABELS = (2, 5, 10, 20, 50)
PRIOR_VARIANCE = 10.0


def photos(archive, folder):
    """The photos under a folder, each below the name of its class."""
    with zipfile.ZipFile(archive) as packed:
        for member in packed.infolist():
            label, _, name = member.filename.rpartition("/")
            if name.endswith(".jpg") and "/" not in label and label.isalpha():
                (folder / label).mkdir(exist_ok=True)
                (folder / label / name).write_bytes(packed.read(member))


def accuracy(x, y, axes, *, per_class, seed):
    """The share of the other photos that a head trained on `per_class` random labels of each class gets."""
    order = torch.randperm(len(y), generator=generator(seed, "trashnet", per_class))
    told = torch.cat([order[y[order] == label][:per_class] for label in y.unique()])
    rest = torch.ones(len(y), dtype=torch.bool)
    rest[told] = False
    rows = axes(x).numpy()
    head = LogisticRegression(C=PRIOR_VARIANCE, max_iter=1000).fit(rows[told], y[told].numpy())
    return float((head.predict(rows[rest]) == y[rest].numpy()).mean())


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument(
        "--data", default=os.environ.get("ASKWISE_DATA"), help="folder with trashnet/photos.zip"
    )
    options.add_argument("--encoders", default="lite2,lite0")
    options.add_argument("--cache", type=Path, help="folder to keep the features in")
    given = options.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "photos")
        folder.mkdir()
        photos(Path(given.data or ".", "trashnet", "photos.zip"), folder)
        print(f"accuracy in %, mean (sd) of {len(SEEDS)} seeds; labels in each class: {LABELS}")
        for name in given.encoders.split(","):
            encoder = aw.encoders.load(name)
            pool = aw.pool.images(folder, **encoder.reading)
            cache = given.cache or Path(scratch, "features")
            found = aw.pool.features(pool, encoder.module, cache=cache).read(list(pool.ids))
            names = sorted({identity.partition("/")[0] for identity in found.ids})
            y = torch.tensor([names.index(identity.partition("/")[0]) for identity in found.ids])
            axes = fit_axes(found.inputs)
            cells = []
            for count in LABELS:
                seeds = [100 * accuracy(found.inputs, y, axes, per_class=count, seed=s) for s in SEEDS]
                cells.append(f"{statistics.mean(seeds):.1f} ({statistics.stdev(seeds):.1f})")
            print(f"{name} at {encoder.record.size} px, {len(y)} photos: " + ", ".join(cells), flush=True)


if __name__ == "__main__":
    main()
