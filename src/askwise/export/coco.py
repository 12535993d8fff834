"""Masks as a file of COCO: one run-length code for each class of each picture, and back."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, UInt8

from askwise.errors import InputError
from askwise.files import target, write_whole

UNKNOWN = 255
"""What `read_coco` gives a pixel that no annotation covers."""


def write_coco(
    path: Path,
    masks: Mapping[str, UInt8[np.ndarray, "H W"]],
    classes: Sequence[str],
    *,
    ignore: int | None = None,
) -> int:
    """The number of pictures in a file of COCO; `masks` are classes of pixels by the name of a picture.

    Categories are numbered from 1, as COCO does. Pixels to `ignore` are in no annotation. Width and height
    are those of the mask.
    """
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for name, mask in masks.items():
        high, wide = mask.shape
        images.append({"id": len(images) + 1, "file_name": name, "width": wide, "height": high})
        for number in np.unique(mask).tolist():
            if number == ignore:
                continue
            if number >= len(classes):
                raise InputError(f"the mask of {name!r} has class {number}, and there are {len(classes)}")
            own = {"id": len(annotations) + 1, "image_id": len(images), "category_id": number + 1}
            annotations.append(own | _region(mask == number))
    categories = [{"id": number + 1, "name": name} for number, name in enumerate(classes)]
    whole = {"images": images, "annotations": annotations, "categories": categories}
    write_whole(target(path), json.dumps(whole).encode())
    return len(images)


def read_coco(path: Path) -> tuple[dict[str, UInt8[np.ndarray, "H W"]], list[str]]:
    """The masks in a file of COCO by the name of the picture, and the classes; polygons are not read."""
    try:
        whole = json.loads(path.read_bytes())
        known = sorted(whole["categories"], key=lambda one: one["id"])
        numbers = {one["id"]: place for place, one in enumerate(known)}
        names = {one["id"]: one["file_name"] for one in whole["images"]}
        found = {
            one["file_name"]: np.full((one["height"], one["width"]), UNKNOWN, np.uint8)
            for one in whole["images"]
        }
        for one in whole["annotations"]:
            mask = found[names[one["image_id"]]]
            mask[_decoded(one["segmentation"], mask.shape)] = numbers[one["category_id"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is no file of COCO with run-length codes: {error!r}") from None
    return found, [one["name"] for one in known]


def _region(inside: Bool[np.ndarray, "H W"]) -> dict[str, Any]:
    """A class of a picture: its code, area and box [x, y, width, height]; `iscrowd` says it is a code."""
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    left, top = int(columns[0]), int(rows[0])
    box = [left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1]
    code = {"size": list(inside.shape), "counts": _runs(inside)}
    return {"segmentation": code, "area": int(inside.sum()), "bbox": box, "iscrowd": 1}


def _runs(inside: Bool[np.ndarray, "H W"]) -> list[int]:
    """Lengths of runs outside and inside in turn, beginning outside, down the columns."""
    flat = inside.flatten(order="F")
    changes = np.flatnonzero(np.diff(flat)) + 1
    edges = np.concatenate([[0], changes, [flat.size]])
    runs: list[int] = np.diff(edges).tolist()
    return [0, *runs] if flat[0] else runs


def _decoded(code: dict[str, Any], shape: tuple[int, ...]) -> Bool[np.ndarray, "H W"]:
    counts = code["counts"]
    if tuple(code["size"]) != shape or not isinstance(counts, list) or sum(counts) != shape[0] * shape[1]:
        raise ValueError("a code does not fit its picture")
    turns = np.arange(len(counts)) % 2 == 1
    return np.repeat(turns, counts).reshape(shape, order="F")
