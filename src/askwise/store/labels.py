"""What a label may be, for every task, and how it is written down: as one canonical JSON text."""

import json
import math
from dataclasses import dataclass
from typing import Any, TypeAlias

from askwise.errors import InputError


@dataclass(frozen=True)
class Tags:
    """The tags an item has, and those of which nobody knows whether it has them; the rest it has not."""

    tags: tuple[int, ...]
    unknown: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("tags", "unknown"):
            object.__setattr__(self, name, tuple(sorted(set(getattr(self, name)))))
        both = set(self.tags) & set(self.unknown)
        if both:
            raise InputError(f"tag {min(both)} is both given and unknown; choose one")


@dataclass(frozen=True)
class Numbers:
    """The values of a regression."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(map(float, self.values)))
        if not all(map(math.isfinite, self.values)):
            raise InputError(f"a label must be finite numbers, not {list(self.values)}")


@dataclass(frozen=True)
class Mask:
    """A picture of classes, kept in a file beside the store: its name there, and the SHA-256 of its bytes."""

    file: str
    sha256: str


Label: TypeAlias = int | Tags | Numbers | Mask
"""The number of a class, or what the other tasks take."""


def class_number(label: Label) -> int:
    """The number of a class, where the task is to tell classes apart."""
    if not isinstance(label, int):
        raise InputError(f"the number of a class was expected, and the label is {label!r}")
    return label


def written(label: Label) -> str:
    """The one text of a label."""
    match label:
        case bool():
            raise InputError(f"a label is a class number, Tags, Numbers or a Mask, not {label!r}")
        case int():
            return str(label)
        case Tags():
            value: Any = {"tags": list(label.tags), "unknown": list(label.unknown)}
        case Numbers():
            value = {"numbers": list(label.values)}
        case Mask():
            value = {"mask": label.file, "sha256": label.sha256}
        case _:
            raise InputError(f"a label is a class number, Tags, Numbers or a Mask, not {label!r}")
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def read(text: str) -> Label:
    """The label of a text."""
    if text.isdecimal():
        return int(text)
    match json.loads(text):
        case {"tags": tags, "unknown": unknown}:
            return Tags(tuple(tags), tuple(unknown))
        case {"numbers": values}:
            return Numbers(tuple(values))
        case {"mask": file, "sha256": digest}:
            return Mask(file, digest)
        case int(number):
            return number
    raise InputError(f"no label is written as {text[:80]!r}")
