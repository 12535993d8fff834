"""Items by what they look like and by what the model thinks: more like this, of a class, a map of the pool.

Nothing that is kept for testing is ever among them. A pass over the pool holds a chunk of it at a time; of a
pool without features kept on the disk only a random part is read, so that it takes seconds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor
from torch.nn.functional import normalize

from askwise.errors import InputError
from askwise.loop.measure import known_by
from askwise.loop.models import handed_over
from askwise.loop.score import chunk_size, chunks
from askwise.loop.setting import Setting
from askwise.pool.axes import Axes, fit_axes
from askwise.pool.features import FeaturePool
from askwise.store.classes import position

MOST_GUESSED = 20_000
"""Items that the model is asked about; of a larger pool a random part."""
_NUMBERS = 50_000_000  # that are read of a pool without kept features: 1,000 photos of 128 x 128 and more
_AXES = 4_000  # items that the map's axes are fitted to
_EDGE = 0.005  # of the items on each side of the map are drawn on its edge
_GROWN = 1.1  # times the items encoded before the map is made anew


@dataclass(frozen=True)
class Matches:
    """Items, best first, each with a number from 0 to 1, and how many were looked at."""

    ids: list[str]
    scores: list[float]
    looked_at: int


@dataclass(frozen=True)
class Map:
    """Every item that was looked at on the pool's two principal axes, both from 0 to 1."""

    ids: list[str]
    places: Float64[np.ndarray, "N 2"]


class Finder:
    """What can be found in one run; the last map and the last guesses are kept."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._map: Map | None = None
        self._guessed: tuple[int, list[str], Tensor] | None = None

    def alike(self, items: Sequence[str], *, count: int) -> Matches:
        """The items whose features are most like those of any of the given ones, by their cosine."""
        setting = self._setting
        wanted = setting.pool.read([setting.pool.find(name) for name in items])
        if not wanted.ids:
            raise InputError("this item cannot be read, so nothing is like it")
        given, own = normalize(wanted.inputs.flatten(1).float(), dim=1), set(wanted.ids)
        ids, best, looked = list[str](), torch.empty(0), 0
        for some in chunks(self.listed(), chunk_size(setting.pool)):
            reading = setting.pool.read([name for name in some if name not in own])
            if not reading.ids:
                continue
            looked += len(reading.ids)
            rows = normalize(reading.inputs.flatten(1).float(), dim=1)
            ids, best = ids + reading.ids, torch.cat([best, (rows @ given.T).max(dim=1).values])
            order = best.sort(descending=True, stable=True).indices[:count]
            ids, best = [ids[at] for at in order.tolist()], best[order]
        return Matches(ids, best.clamp(0, 1).tolist(), looked)

    def of_class(self, name: str, *, unsure: bool, count: int) -> Matches:
        """Items without a label that the model would give a class or tag, the surest or the least sure first.

        Their number is the probability of that class.
        """
        setting = self._setting
        if setting.plan.kind not in ("classification", "multilabel"):
            raise InputError("only classes and tags can be looked for")
        place = position(name, setting.plan.names, what="the class")
        ids, chance = self._guesses()
        known = setting.ledger.refresh()
        here = chance[:, place]
        chosen = here > 0.5 if setting.plan.kind == "multilabel" else chance.argmax(dim=1) == place
        order = here.argsort(descending=not unsure, stable=True).tolist()
        found = [at for at in order if chosen[at] and not known.answered(ids[at])][:count]
        return Matches([ids[at] for at in found], [float(here[at]) for at in found], len(ids))

    def map(self) -> Map:
        """The pool on its two principal axes; made anew when a tenth more items are encoded."""
        ids = self.listed()
        if self._map is None or not len(self._map.ids) <= len(ids) <= _GROWN * len(self._map.ids):
            self._map = self._placed(ids)
        return self._map

    def drawn(self, count: int) -> Map:
        """So many items of the map: up to half of them labelled, the others a uniform sample."""
        whole, labels = self.map(), self._setting.ledger.refresh().labels
        labelled = [at for at, name in enumerate(whole.ids) if name in labels][: count // 2]
        others = [at for at, name in enumerate(whole.ids) if name not in labels]  # in a random order
        some = labelled + others[: count - len(labelled)]
        return Map([whole.ids[at] for at in some], whole.places[some])

    def inside(self, corners: Float[np.ndarray, "K 2"]) -> list[str]:
        """Every item of the map within a polygon."""
        found = self.map()
        return [found.ids[at] for at in _within(found.places, corners).nonzero()[0].tolist()]

    def listed(self) -> list[str]:
        """The items that may be found, in a random order: nothing kept for testing, nothing unreadable."""
        setting = self._setting
        setting.refresh()
        testing, bad = setting.testing(), setting.ledger.quarantined
        ids = [
            name
            for name in setting.order()
            if name not in testing
            and name not in bad
            and name not in setting.held
            and (setting.ready is None or name in setting.ready)
        ]
        if isinstance(setting.pool, FeaturePool):
            return ids
        return ids[: max(1, _NUMBERS // setting.pool.like().numel())]

    def _guesses(self) -> tuple[list[str], Tensor]:
        setting = self._setting
        number, fitted = handed_over(setting)
        if fitted is None:
            raise InputError("there is no model yet; answer a few items of two classes first")
        if self._guessed is None or self._guessed[0] != number:
            some = self.listed()[:MOST_GUESSED]
            ids, mean = known_by(setting, fitted, number, some)
            self._guessed = number, ids, mean[..., 1] if setting.plan.kind == "multilabel" else mean
        return self._guessed[1:]

    def _placed(self, ids: list[str]) -> Map:
        setting = self._setting
        first = setting.pool.read(ids[:_AXES])
        if len(first.ids) < 3:
            raise InputError("a map wants at least three items that are encoded")
        axes = fit_axes(first.inputs.flatten(1), count=2)
        names, along = list[str](), list[np.ndarray]()
        for some in chunks(ids, chunk_size(setting.pool)):
            reading = setting.pool.read(some)
            if reading.ids:
                names += reading.ids
                along.append(_along(axes, reading.inputs.flatten(1)))
        places = np.concatenate(along)
        low, high = np.quantile(places, [_EDGE, 1 - _EDGE], axis=0)
        return Map(names, ((places - low) / np.maximum(high - low, 1e-12)).clip(0, 1))


def _along(axes: Axes, features: Tensor) -> Float64[np.ndarray, "N 2"]:
    found = ((features.double() - axes.centre) @ axes.directions).numpy()
    return np.pad(found, ((0, 0), (0, 2 - found.shape[1])))  # items on a line have one axis


def _within(places: Float64[np.ndarray, "N 2"], corners: Float[np.ndarray, "K 2"]) -> Bool[np.ndarray, " N"]:
    """Which places a ray to the right leaves through an odd number of the polygon's sides."""
    x, y = places.T
    inside = np.zeros(len(places), bool)
    for (x0, y0), (x1, y1) in _sides(corners):
        crosses = (y0 > y) != (y1 > y)
        if crosses.any():
            inside ^= crosses & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return inside


def _sides(corners: Float[np.ndarray, "K 2"]) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    return zip(corners, np.roll(corners, -1, axis=0), strict=True)
