"""What people say about an item, by task: read into labels, written as text, and made rows of a tensor."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from askwise.errors import InputError
from askwise.oracle.masks import Masks, mask_of
from askwise.pool.decimals import has_comma, surely, with_point
from askwise.store.classes import position
from askwise.store.facts import CANNOT_TELL, SKIP, NoLabel, Told
from askwise.store.labels import Label, Mask, Numbers, Tags, class_number

_MARKS = "|;,"  # between several tags or numbers in one cell; of tags one that no name contains
_NOTHING = "none"  # written for an item without tags
_WORDS: dict[str, NoLabel] = {"": SKIP, "skip": SKIP, "cannot_tell": CANNOT_TELL}


@runtime_checkable
class Labelling(Protocol):
    """What a label is for one run, as people say it, as it is stored, and as a network learns it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The classes, tags or numbers."""

    def label(self, told: Told, *, what: str) -> Label:
        """The label that somebody means; what is no label is refused, and the message starts with `what`."""

    def said(self, text: str, *, what: str) -> Told:
        """What a cell of a file says, checked, as it can be told later."""

    def text(self, label: Label) -> str:
        """The label as a file of labels writes it."""

    def row(self, label: Label) -> Tensor:
        """The label as one row of a tensor that a network learns from."""

    def guess(self, mean: Tensor) -> Label | None:
        """The label that a mean prediction comes to; none where it would be a picture."""


@dataclass(frozen=True)
class Classes:
    """One class for each item: its name, or its number."""

    names: tuple[str, ...]

    def label(self, told: Told, *, what: str) -> int:
        """The number of a class."""
        return position(told, self.names, what=what)

    def said(self, text: str, *, what: str) -> str:
        """The name of the class."""
        return self.names[self.label(text, what=what)]

    def text(self, label: Label) -> str:
        """The name of the class."""
        return self.names[class_number(label)]

    def row(self, label: Label) -> Tensor:
        """The number of the class."""
        return torch.tensor(class_number(label))

    def guess(self, mean: Tensor) -> int:
        """The likeliest class."""
        return int(mean.argmax())


@dataclass(frozen=True)
class TagSets:
    """Any number of tags for each item: a collection of names or numbers, or a row of 0, 1 and -1.

    As a mapping from names, True means that the item has the tag, None that nobody knows; tags that
    are not named it has not. In text tags stand between |, ; or commas, `?tag` is unknown, and `none`
    an item without any.
    """

    names: tuple[str, ...]
    threshold: float = 0.5

    def label(self, told: Told, *, what: str) -> Tags:
        """The tags and those that are unknown."""
        if isinstance(told, Tags):
            beyond = [place for place in (*told.tags, *told.unknown) if not 0 <= place < len(self.names)]
            if beyond:
                raise InputError(f"{what} has tag number {beyond[0]}, and there are {len(self.names)} tags")
            return told
        if isinstance(told, Tensor | np.ndarray):
            return self._places(self._hot(np.asarray(told), what), what)
        if isinstance(told, str):
            given: dict[Any, Any] = self._cell(told)
        elif isinstance(told, Mapping):
            given = dict(told)
        elif isinstance(told, Iterable):
            given = dict.fromkeys(told, 1)
        else:
            raise InputError(
                f"{what} must be a collection of tags, such as [{self.names[0]!r}], not {told!r}"
            )
        places = {
            position(tag, self.names, what=f"a tag of {what}", kind="tag"): value
            for tag, value in given.items()
        }
        return self._places(places, what)

    def _places(self, places: Mapping[int, Any], what: str) -> Tags:
        """The tags by their numbers and what is said of each."""
        for place, value in places.items():
            if value not in (None, 0, 1, -1):
                raise InputError(
                    f"{what}: tag {self.names[place]!r} is {value!r}; write 1 or True for a tag it has, "
                    "0 or False for one it has not, None or -1 for unknown"
                )
        return Tags(
            tuple(place for place, value in places.items() if value == 1),
            tuple(place for place, value in places.items() if value in (None, -1)),
        )

    @property
    def nothing(self) -> str:
        """What a file says of an item without tags: `none`, or a bare mark where a tag has that name."""
        return _NOTHING if _NOTHING not in self.names else (self._marks() or _MARKS)[0]

    def _cell(self, text: str) -> dict[str, Any]:
        if text.strip() == self.nothing:
            return {}
        parts = [text]
        for mark in self._marks():
            parts = [piece for part in parts for piece in part.split(mark)]
        own = [part.strip() for part in parts if part.strip()]
        unsure = [tag for tag in own if tag.startswith("?") and tag not in self.names]
        return {tag: 1 for tag in own if tag not in unsure} | {tag[1:]: None for tag in unsure}

    def _marks(self) -> str:
        """What may stand between two tags: marks that are no part of a name."""
        return "".join(mark for mark in _MARKS if not any(mark in name for name in self.names))

    def _hot(self, row: np.ndarray, what: str) -> dict[int, Any]:
        if row.shape != (len(self.names),):
            raise InputError(
                f"{what} is an array of shape {row.shape}; give 0, 1 or -1 for each of the "
                f"{len(self.names)} tags, or a list of tags"
            )
        return {int(place): float(row[place]) for place in row.nonzero()[0]}

    def said(self, text: str, *, what: str) -> Tags:
        """The tags."""
        return self.label(text, what=what)

    def text(self, label: Label) -> str:
        """The tags with a mark between them, | unless a name contains it."""
        own = _of(label, Tags)
        told = [self.names[place] for place in own.tags] + [f"?{self.names[place]}" for place in own.unknown]
        return (self._marks() or _MARKS)[0].join(told) or self.nothing

    def row(self, label: Label) -> Tensor:
        """1 for the tags it has, -1 for unknown ones, 0 for the rest."""
        own, found = _of(label, Tags), torch.zeros(len(self.names))
        found[list(own.tags)] = 1
        found[list(own.unknown)] = -1
        return found

    def guess(self, mean: Tensor) -> Tags:
        """The tags that are likelier than the threshold."""
        return Tags(tuple((mean[..., 1] > self.threshold).nonzero().flatten().tolist()))


@dataclass(frozen=True)
class Values:
    """Finite numbers for each item: one, or as many as there are names."""

    names: tuple[str, ...]

    def label(self, told: Told, *, what: str) -> Numbers:
        """The numbers."""
        if isinstance(told, Numbers):
            given: Sequence[Any] = told.values
        elif isinstance(told, str):
            given = self._cell(told, what)
        elif isinstance(told, Tensor | np.ndarray):
            given = np.asarray(told, dtype=float).reshape(-1).tolist()
        else:
            given = list(told) if isinstance(told, Iterable) and not isinstance(told, Mapping) else [told]
        try:
            values = tuple(math.nan if isinstance(value, bool) else float(value) for value in given)
        except (TypeError, ValueError):
            raise InputError(f"{what} must be {self._wanted}, not {told!r}") from None
        if len(values) != len(self.names):
            raise InputError(f"{what} must be {self._wanted}, and is {len(values)} numbers")
        if not all(map(math.isfinite, values)):
            raise InputError(f"{what} must be {self._wanted}, finite, not {told!r}; skip the item instead")
        return Numbers(values)

    def _cell(self, text: str, what: str) -> list[str]:
        """The numbers in a text; a comma that separates none of them is a decimal one."""
        apart, wider = (
            re.sub(f"[{marks}]", " ", text).split() for marks in (_MARKS, _MARKS.replace(",", ""))
        )
        if len(apart) == len(self.names) or len(wider) != len(self.names):
            return apart
        unsure = next((part for part in wider if has_comma(part) and not surely(part)), None)
        if unsure is not None:
            raise InputError(
                f"{what} is {unsure!r}, which may be {with_point(unsure)} or {unsure.replace(',', '')}; "
                "write it without the comma"
            )
        return [part if "." in part else with_point(part) for part in wider]

    @property
    def _wanted(self) -> str:
        return "a number" if len(self.names) == 1 else f"{len(self.names)} numbers ({', '.join(self.names)})"

    def said(self, text: str, *, what: str) -> Numbers:
        """The numbers."""
        return self.label(text, what=what)

    def text(self, label: Label) -> str:
        """The numbers with | between them, to the last bit."""
        return "|".join(map(repr, _of(label, Numbers).values))

    def row(self, label: Label) -> Tensor:
        """The numbers, as exact as they were told."""
        return torch.tensor(_of(label, Numbers).values, dtype=torch.float64)

    def guess(self, mean: Tensor) -> Numbers:
        """The mean prediction."""
        return Numbers(tuple(mean.tolist()))


@dataclass(frozen=True)
class Pictures:
    """A class for every pixel of an item: an array [H, W] of numbers, or the path of such a picture."""

    names: tuple[str, ...]
    size: tuple[int, int] | None = None
    """Of the network's outputs, where it is known."""
    ignore: int | None = None
    folder: Path | None = None
    """Where relative paths begin."""
    masks: Masks = field(default_factory=Masks)

    def label(self, told: Told, *, what: str) -> Mask:
        """The mask; its content waits in `masks` to be kept."""
        if isinstance(told, Mask):
            self._checked(self.masks.array(told), what)
            return told
        return self.masks.noted(self._checked(mask_of(told, folder=self.folder, what=what), what))

    def _checked(self, mask: np.ndarray, what: str) -> np.ndarray:
        if self.size is not None and mask.shape != self.size:
            found = " x ".join(map(str, mask.shape))
            raise InputError(
                f"{what} is a mask of {found} pixels, and the network's outputs are "
                f"{self.size[0]} x {self.size[1]}; bring them to one size"
            )
        outside = mask >= len(self.names)
        if self.ignore is not None:
            outside &= mask != self.ignore
        if outside.any():
            row, column = (int(place[0]) for place in outside.nonzero())
            value = int(mask[row, column])
            raise InputError(
                f"{what} has {value} at row {row}, column {column}, outside the {len(self.names)} classes "
                f"0 to {len(self.names) - 1}; for unknown pixels say ignore={value}"
            )
        return mask

    def said(self, text: str, *, what: str) -> Path:
        """The path of the mask, which is read again when it is told."""
        path = (self.folder or Path()) / text
        self._checked(mask_of(path, folder=None, what=what), what)
        return path.absolute()

    def text(self, label: Label) -> str:
        """The name of the file that keeps the mask."""
        return str(_of(label, Mask).file)

    def row(self, label: Label) -> Tensor:
        """The classes of all pixels."""
        return torch.from_numpy(self.masks.array(_of(label, Mask)))

    def guess(self, mean: Tensor) -> None:
        """None: a picture is not worth keeping for each question."""


def labelling(
    task: Mapping[str, Any],
    names: Sequence[str],
    *,
    size: tuple[int, int] | None = None,
    masks: Masks | None = None,
    folder: Path | None = None,
) -> Labelling:
    """What a label is under a task, given by its name and options."""
    own = tuple(names)
    match task["name"]:
        case "classification":
            return Classes(own)
        case "multilabel":
            return TagSets(own, task.get("threshold", 0.5))
        case "regression":
            return Values(own or ("value",))
        case _:
            return Pictures(own, size, task.get("ignore"), folder, masks or Masks())


def no_label(text: str, names: Sequence[str]) -> NoLabel | None:
    """What a cell says instead of a label: nothing, `skip`, `cannot_tell`; unless a class has that name."""
    return _WORDS.get(text) if text not in names else None


def _of(label: Label, kind: Any) -> Any:
    if not isinstance(label, kind):
        raise InputError(f"the run's labels are {kind.__name__}, and a stored one is {label!r}")
    return label
