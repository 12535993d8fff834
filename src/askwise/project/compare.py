"""Which of the installed encoders tells the classes of a project apart, by its own labels."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from askwise import encoders
from askwise.bayes.fit import fit
from askwise.errors import InputError
from askwise.files import write_whole
from askwise.loop.featured import feature_folder
from askwise.loop.plan import Plan
from askwise.nets.axes import axes_of, on_axes
from askwise.pool import features, fit_axes, prepared
from askwise.project import Project
from askwise.runs.material import read_plan
from askwise.runs.trained import last_model
from askwise.seeding import generator
from askwise.store import open_store
from askwise.store.labels import class_number
from askwise.store.ledger import Ledger

KEPT = "encoders.json"
LEAST, MOST = 50, 500
"""Labels that a comparison wants, and that it looks at."""
_FOLDS, _Z = 5, 1.96


@dataclass(frozen=True)
class Compared:
    """How many labelled items an encoder's features tell right when these are left out, a fifth at a time."""

    encoder: str
    right: int
    labels: int
    chance: float
    """The share of the most frequent class: what is right without looking."""

    @property
    def interval(self) -> tuple[float, float]:
        """The share that is right, between these in 95 % of cases (Wilson 1927)."""
        share, n = self.right / self.labels, self.labels
        middle = share + _Z**2 / (2 * n)
        half = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
        return (middle - half) / (1 + _Z**2 / n), (middle + half) / (1 + _Z**2 / n)

    @property
    def separates(self) -> bool:
        """Whether its interval lies above the share that guessing would get right."""
        return self.interval[0] > self.chance


def compare_encoders(project: Project) -> list[Compared]:
    """The installed encoders for the project's items, the best first.

    Only labelled items are encoded. They were asked because they are hard: all shares are lower than
    on the whole pool, for every encoder alike.
    """
    plan = read_plan(project.plan)
    store = open_store(project.place, access="read")
    try:
        ledger = Ledger(store).refresh()
        told = {name: class_number(label) for name, label in list(ledger.labels.items())[:MOST]}
        if len(told) < LEAST:
            raise InputError(f"{project.name} has {len(told)} labels; encoders are compared from {LEAST} on")
        how = last_model(plan, store, folder=project.folder).fitted.preparation
        cache = feature_folder(store)
    finally:
        store.close()
    kind = {"images": encoders.PICTURES, "text": encoders.TEXTS}.get(str(how.get("kind")))
    if kind is None:
        raise InputError(f"{plan.data} holds neither pictures nor texts, so there are no encoders to compare")
    found = [_compared(name, plan, project, how, told, cache) for name in _names(plan, kind)]
    return sorted(found, key=lambda one: -one.right)


def _names(plan: Plan, kind: str) -> list[str]:
    installed = [record.name for record in encoders.known() if record.takes == kind and record.place]
    return list(dict.fromkeys([*([plan.encoder] if plan.encoder else []), *installed]))


def _compared(
    name: str, plan: Plan, project: Project, how: Mapping[str, Any], told: dict[str, int], cache: Path | None
) -> Compared:
    encoder = encoders.load(name, folder=project.folder)
    assert encoder is not None  # noqa: S101  the names are those of encoders
    bare = {key: value for key, value in how.items() if not key.startswith("encoder")}
    size = {"size": [encoder.record.size] * 2} if how["kind"] == "images" else {}
    items = prepared(str(plan.data), {**bare, **size}, encode=encoder.reading.get("encode"))
    reading = features(items, encoder.module, cache=cache).read([one for one in told if one in items])
    labels = torch.tensor([told[one] for one in reading.ids])
    right = _left_out(reading.inputs, labels, len(plan.classes))
    most = Counter(labels.tolist()).most_common(1)[0][1]
    return Compared(name, right, len(labels), most / len(labels))


def _left_out(x: Tensor, y: Tensor, classes: int) -> int:
    """How many items are told right by a model that has not seen them."""
    folds = torch.randperm(len(y), generator=generator(0, "encoders")) % _FOLDS
    axes, right = fit_axes(x), 0
    network = on_axes(x.shape[1], classes)
    own = axes_of(network)
    assert own is not None  # noqa: S101  it was built with some
    own.place(axes.centre, axes.directions, axes.variance)
    for fold in range(_FOLDS):
        away = folds == fold
        fitted = fit(network, (x[~away], y[~away]), posterior="modal")
        with torch.no_grad():
            right += int((fitted.network(x[away]).argmax(dim=1) == y[away]).sum())
    return right


@dataclass(frozen=True)
class Verdict:
    """What a comparison said, and of how many labels."""

    labels: int
    said: str


def compared(project: Project) -> tuple[list[Compared], Verdict]:
    """The comparison, and what it says; that is kept in the project's folder."""
    found = compare_encoders(project)
    said = Verdict(max(one.labels for one in found), verdict(found, now=read_plan(project.plan).encoder))
    write_whole(project.folder / KEPT, json.dumps(asdict(said), indent=1).encode())
    return found, said


def last_verdict(folder: Path) -> Verdict | None:
    """What the last comparison in a project's folder said; none where there was none."""
    try:
        return Verdict(**json.loads((folder / KEPT).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def rivals(plan: Plan) -> list[str]:
    """The other encoders that are installed for the items of a plan; none where it has no encoder."""
    known = encoders.known()
    kinds = {record.takes for record in known if record.name == plan.encoder}
    return [one.name for one in known if one.takes in kinds and one.place and one.name != plan.encoder]


def verdict(found: Sequence[Compared], *, now: str | None) -> str:
    """What to do, in one line."""
    if not any(one.separates for one in found):
        return (
            "no encoder separates your classes yet: none is surely better than always saying the same class"
        )
    best = found[0]
    if best.encoder == now:
        return f"stay with {best.encoder}"
    current = next((one for one in found if one.encoder == now), None)
    if current is not None and current.interval[1] >= best.right / best.labels:
        return f"{best.encoder} may be better than {now}; it is not sure"
    return f"{best.encoder} separates your classes better: set encoder = {best.encoder!r} in plan.toml"
