"""Data sets of a few items, in the very formats of the large ones, for the tests of this folder."""

import gzip
import io
import json
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
from PIL import Image

from askwise.data import idx
from askwise.data.camvid import CamVid
from askwise.data.goemotions import GoEmotions
from askwise.data.idx import TEST_IMAGES, TEST_LABELS, TRAIN_IMAGES, TRAIN_LABELS, IdxSet
from askwise.data.isic2016 import Isic
from askwise.data.png_set import PngSet
from askwise.data.trec import Trec
from askwise.data.uci_set import UciSet
from askwise.data.xed import Xed

TRAIN, TEST, SIDE = 6, 4, 3


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def idx_contents() -> dict[str, bytes]:
    """The four idx files of a set of 6 + 4 items of 3 x 3 pixels in 3 classes."""
    rng = np.random.default_rng(0)

    def images(count: int) -> bytes:
        pixels = rng.integers(0, 256, (count, SIDE, SIDE)).astype(np.uint8)
        return idx.header((count, SIDE, SIDE)) + pixels.tobytes()

    def labels(count: int) -> bytes:
        return idx.header((count,)) + (np.arange(count) % 3).astype(np.uint8).tobytes()

    return {
        TRAIN_IMAGES: images(TRAIN),
        TRAIN_LABELS: labels(TRAIN),
        TEST_IMAGES: images(TEST),
        TEST_LABELS: labels(TEST),
    }


def idx_set(contents: dict[str, bytes]) -> IdxSet:
    digests = {name: digest(content) for name, content in contents.items()}
    return IdxSet(name="mnist", classes=("a", "b", "c"), digests=digests, train=TRAIN, test=TEST, side=SIDE)


def png_contents() -> dict[str, bytes]:
    """Two training pictures and one test picture of 4 items each, 2 x 2 pixels, and their labels."""
    rng = np.random.default_rng(1)

    def picture() -> bytes:
        stream = io.BytesIO()
        Image.fromarray(rng.integers(0, 256, (4, 4, 3)).astype(np.uint8)).save(stream, "PNG")
        return stream.getvalue()

    return {
        "one.png": picture(),
        "two.png": picture(),
        "test.png": picture(),
        "train.json": json.dumps([0, 1, 0, 1, 1, 1, 0, 0]).encode(),
        "test.json": json.dumps([0, 1, 1, 0]).encode(),
    }


def png_set(contents: dict[str, bytes]) -> PngSet:
    return PngSet(
        name="cifar10",
        classes=("cat", "dog"),
        digests={name: digest(content) for name, content in contents.items()},
        train_pictures=("one.png", "two.png"),
        test_pictures=("test.png",),
        train_labels="train.json",
        test_labels="test.json",
        rows=4,
        side=2,
    )


def put(folder: Path, contents: dict[str, bytes], *, packed: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)
    return folder


def tarball(contents: dict[str, bytes], *, mode: str = "w:gz") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as tar:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def zipped(contents: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        for name, content in contents.items():
            packed.writestr(name, content)
    return stream.getvalue()


def digests(contents: dict[str, bytes]) -> dict[str, str]:
    return {name: digest(content) for name, content in contents.items()}


def picture(pixels: np.ndarray, kind: str = "PNG") -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, kind, **({"quality": 100} if kind == "JPEG" else {}))
    return stream.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def uci_contents() -> dict[str, bytes]:
    """Ten rows of three numbers in two splits, the first testing on rows 0 and 1."""
    is_test = np.zeros((2, 10), dtype=bool)
    is_test[0, :2] = is_test[1, 5:] = True
    return {"yacht.npz": npz(X=np.arange(30.0).reshape(10, 3), y=np.arange(10.0) * 100, is_test=is_test)}


def uci_set(contents: dict[str, bytes]) -> UciSet:
    return UciSet("uci/yacht", digest(contents["yacht.npz"]), rows=10, columns=3, splits=2)


def street_pictures() -> dict[str, bytes]:
    """Images of 8 x 6 whose left half is black, and masks whose left half is class 0: 3, 1 and 2 of them."""
    contents = {}
    mask = np.zeros((6, 8), dtype=np.uint8)
    mask[:, 4:] = 1
    mask[0, 0] = 2  # void
    image = np.repeat((mask == 1)[..., None] * np.uint8(255), 3, axis=2)
    for part, count in (("train", 3), ("val", 1), ("test", 2)):
        for number in range(count):
            contents[f"{part}/{part}_{number}.jpg"] = picture(image, "JPEG")
            contents[f"{part}annot/{part}_{number}.png"] = picture(mask)
    return contents


def camvid_contents(pictures: dict[str, bytes] | None = None) -> dict[str, bytes]:
    return {"camvid_240x180.zip": zipped(pictures or street_pictures())}


def camvid_set(contents: dict[str, bytes]) -> CamVid:
    counts = {"train": 3, "val": 1, "test": 2}
    return CamVid("camvid", ("sky", "road"), digests(contents), counts=counts, size=(8, 6))


def isic_contents() -> dict[str, bytes]:
    """Three training rows, one of them without its image, and one test row."""
    rng = np.random.default_rng(2)
    images = {
        f"{name}.jpg": picture(rng.integers(0, 256, (4, 4, 3)).astype(np.uint8), "JPEG") for name in "acd"
    }
    head = b"image_id,malignant,file,image_source\n"
    return {
        "images_256.zip": zipped(images),
        "train.csv": head + b"a,0,a.jpg,here\nb,1,,\nc,1,c.jpg,here\n",
        "test.csv": head + b"d,0,d.jpg,there\n",
    }


def isic_set(contents: dict[str, bytes]) -> Isic:
    return Isic(
        "isic2016", ("benign", "malignant"), digests(contents), counts={"train": 2, "test": 1}, side=4
    )


def goemotions_contents() -> dict[str, bytes]:
    return {
        "train.tsv": "I like\u2028this\t0,2\ttr0\nOh no\t1\ttr1\n".encode(),
        "dev.tsv": b"Hm\t2\tde0\n",
        "test.tsv": b"Well\t0\tte0\n",
    }


def goemotions_set(contents: dict[str, bytes]) -> GoEmotions:
    counts = {"train": 2, "dev": 1, "test": 1}
    return GoEmotions("goemotions", ("joy", "fear", "neutral"), digests(contents), counts=counts)


def xed_contents() -> dict[str, bytes]:
    """Sentences as they are published, pieces of an alignment among them."""
    french = [f"Phrase {number} !\t1, 8" for number in range(30)]
    french[7:7] = ['"Bonne nouvelle.', 'en/1.xml.gz\tfr/2.xml.gz\t4\t5\tNews.\tNouvelles."\t6']
    return {
        "fr-projections.tsv": "".join(f"{line}\r\n" for line in french).encode(),
        "en-annotated.tsv": b"Hello there\t5\r\nGo away\t1, 3\r\n",
    }


def xed_set(contents: dict[str, bytes]) -> Xed:
    classes = ("anger", "anticipation", "disgust", "fear", "joy", "sadness", "surprise", "trust")
    return Xed("xed", classes, digests(contents), counts={"fr": 30, "en": 2})


def trec_contents() -> dict[str, bytes]:
    return {
        "train_5500.label": "NUM:date When ?\nLOC:city Which sister\xf0city ?\nNUM:count How many ?\n".encode(
            "latin-1"
        ),
        "TREC_10.label": b"LOC:city Where ?\n",
    }


def trec_set(contents: dict[str, bytes]) -> Trec:
    return Trec("trec", ("LOC", "NUM"), digests(contents), counts={"train": 3, "test": 1})


SETS = {
    "mnist": (idx_contents, idx_set),
    "cifar10": (png_contents, png_set),
    "isic2016": (isic_contents, isic_set),
    "camvid": (camvid_contents, camvid_set),
    "goemotions": (goemotions_contents, goemotions_set),
    "xed": (xed_contents, xed_set),
    "trec": (trec_contents, trec_set),
    "uci/yacht": (uci_contents, uci_set),
}
