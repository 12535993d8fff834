"""Which items to ask: scores of the pool, then a selection among the best."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from askwise.acquire import ACQUISITIONS, score
from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import features, log_probs, moments, predict, scored_by, scoring
from askwise.bayes.program.stream import Fetched, working
from askwise.bayes.program.trace import as_taken
from askwise.engine import Engine, remembered
from askwise.errors import InputError
from askwise.loop.axes import place_axes, seen_items
from askwise.loop.conditions import cpu
from askwise.loop.models import latest
from askwise.loop.plan import Plan
from askwise.loop.score import Part, Scored, chunk_size, chunks, score_items, subset
from askwise.loop.setting import Setting, untrained
from askwise.seeding import derive
from askwise.selection import SELECTIONS, select
from askwise.store.labels import Label
from askwise.train.progress import meter


@dataclass(frozen=True)
class Choice:
    """The picks in order with scores and guesses, the hash of all scores, and unreadable items."""

    ids: list[str] = field(default_factory=list)
    scores: list[float | None] = field(default_factory=list)
    guesses: list[Label | None] = field(default_factory=list)
    scored: int = 0
    sha256: str = ""
    quarantined: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def told(self, place: int) -> tuple[str, float | None, Label | None]:
        """Id, score and guess of one pick."""
        return self.ids[place], self.scores[place], self.guesses[place]


def choose_items(setting: Setting, count: int, *, turn: int, without: Collection[str] = ()) -> Choice:
    """The `count` items to ask about next; `turn` counts the choices made with the same model."""
    bad: dict[str, str] = {}
    if count <= 0:
        return Choice()
    while True:
        started = perf_counter()
        choice = _Chooser(setting, turn, bad, without)
        scored = choice.score(count)
        middle = perf_counter()
        bad |= scored.quarantined
        picks = choice.select(scored, min(count, len(scored.ids)))
        reading = setting.pool.read([scored.ids[place] for place in picks])
        bad |= reading.quarantined
        if reading.quarantined and choice.blind:
            continue  # nothing was read to make these picks, so making others costs nothing
        values = dict(zip(scored.ids, scored.scores.tolist(), strict=True))
        return Choice(
            reading.ids,
            [values[name] for name in reading.ids],
            choice.guess(reading.inputs),
            scored.count,
            scored.sha256,
            bad,
            {"score": middle - started, "select": perf_counter() - middle},
        )


def described(
    setting: Setting, ids: list[str], *, turn: int, among: Mapping[str, tuple[int, ...]] | None = None
) -> Choice:
    """Items that no score has chosen, with the scores and guesses they would have had: they look alike.

    With `among` a guess is one of the classes that are named for its item.
    """
    choice = _Chooser(setting, turn, {})
    scored = choice.score_ids(ids, keep=None)
    reading = setting.pool.read(scored.ids)
    values = dict(zip(scored.ids, scored.scores.tolist(), strict=True))
    return Choice(
        reading.ids,
        [values[name] for name in reading.ids],
        choice.guess(reading.inputs, None if among is None else [among[name] for name in reading.ids]),
        quarantined=scored.quarantined | reading.quarantined,
    )


def likeliest(probabilities: Sequence[float], among: Sequence[int]) -> int | None:
    """The class with the highest probability among some; none if the model knows none of them."""
    known = [number for number in among if number < len(probabilities)]
    return max(known, key=lambda number: probabilities[number]) if known else None


def _cold(plan: Plan) -> str:
    """The selection while there is no model."""
    if plan.initial_select is not None:
        return plan.initial_select
    return plan.select if SELECTIONS[plan.select].cold_start else "top_k"


class _Chooser:
    """One choice: the model, or none before the first round, and the seeds of this round."""

    def __init__(
        self, setting: Setting, turn: int, bad: dict[str, str], without: Collection[str] = ()
    ) -> None:
        self._setting, self._plan, self._bad, self._without = setting, setting.plan, bad, without
        self._number, self._fitted = latest(setting)
        self._draw = self._plan.draw_seed(self._number)
        self._chance = derive(self._plan.seed, "choose", self._number, turn)
        self._select = self._plan.select if self._fitted is not None else _cold(self._plan)
        self._selection = SELECTIONS[self._select]
        # a selection that covers the pool wants a fair sample of it, not the highest scores
        own = self._fitted is not None and not self._selection.covers
        self._acquisition = setting.acquisition if own else ACQUISITIONS["random"]
        self.blind = self._acquisition.needs == "ids" and self._selection.sees == "best"

    def score(self, count: int) -> Scored:
        """The scores that the selection needs."""
        plan = self._plan
        first = self._first()
        every = first or seen_items(self._setting, self._number)
        ids: Iterable[str] = (name for name in every if name not in self._bad and name not in self._without)
        if plan.pool_subset is not None and not first:
            ids = subset(ids, plan.pool_subset, seed=derive(self._chance, "subset"))
        keep = {"best": count, "shortlist": plan.shortlist, "all": None}[self._selection.sees]
        return self.score_ids(ids, keep=keep)

    def score_ids(self, ids: Iterable[str], *, keep: int | None) -> Scored:
        """The scores of these items, or of the `keep` best of them."""
        one = self._by_id if self._acquisition.needs == "ids" else self._by_model()
        return score_items(ids, one, chunk=chunk_size(self._setting.pool), keep=keep, seed=self._chance)

    def select(self, scored: Scored, count: int) -> list[int]:
        """Positions among the scored items, in order of choice."""
        if not count:
            return []
        needs = self._selection.needs
        options = dict(self._plan.select_options) if self._select == self._plan.select else {}
        given: dict[str, Any] = {}
        ids = scored.ids
        if "scores" in needs:
            given["scores"] = scored.scores
        if "log_probs" in needs:
            ids, given["log_probs"] = self._gather(scored.ids, self._log_probs)
        if "moments" in needs:
            ids, given["moments"] = self._gather(scored.ids, self._moments)
        if "features" in needs:
            ids, given["features"] = self._gather(scored.ids, self._features)
            if self._selection.cold_start and self._setting.ledger.labels:
                options["labelled"] = self._gather(sorted(self._setting.ledger.labels), self._features)[1]
        if not ids:
            return []
        picks = select(
            self._select, count=min(count, len(ids)), seed=self._chance, ids=ids, **given, **options
        )
        place = {name: position for position, name in enumerate(scored.ids)}
        return [place[ids[pick]] for pick in picks.tolist()]

    def guess(self, inputs: Tensor, among: Sequence[tuple[int, ...]] | None = None) -> list[Label | None]:
        """What the model would answer for each item; none without a model, and no masks."""
        if self._fitted is None or not len(inputs) or self._plan.kind == "segmentation":
            return [None] * len(inputs)
        found = predict(self._fitted, inputs, draws=self._plan.draws, seed=self._draw)
        kind, means = self._setting.labelling, found.mean.cpu()
        if among is None:
            return [kind.guess(one) for one in means]
        return [likeliest(mean.tolist(), classes) for mean, classes in zip(means, among, strict=True)]

    def _first(self) -> list[str]:
        """The items that the plan wants to have labelled first, while there is no model."""
        if self._fitted is not None:
            return []
        return [name for name in self._plan.initial.ids if not self._setting.ledger.known(name)]

    def _by_id(self, lists: Iterator[list[str]]) -> Iterator[Part]:
        for some in lists:
            yield some, score("random", ids=some, seed=self._chance), {}

    def _by_model(self) -> Callable[[Iterator[list[str]]], Iterator[Part]]:
        fitted = scored_by(self._model(), self._acquisition)
        plan, pool = self._plan, self._setting.pool
        draws, seed, options = plan.draws, self._draw, dict(plan.acquire_options)
        if self._acquisition.needs == "targets":
            apart = (self._setting.held, self._setting.testing())
            ids = (name for name in pool.ids if not any(name in part for part in apart))
            fixed = subset(ids, plan.targets, seed=derive(plan.seed, "targets"))
            options["targets"] = self._gather(fixed, lambda inputs: inputs)[1]
        kept = scoring(fitted, self._acquisition, draws=draws, seed=seed, draw=plan.draw, **options)

        def fetch(some: list[str]) -> Fetched:
            reading = pool.read(some)
            return Fetched(reading.inputs, notes={"bad": reading.quarantined})

        item = as_taken(fitted.network, pool.like()[None])
        work = working(fitted, item, kept, fetch, draws=draws, seed=seed)

        def scores(lists: Iterator[list[str]]) -> Iterator[Part]:
            handed: deque[list[str]] = deque()

            def shards() -> Iterator[list[str]]:
                for some in lists:
                    handed.append(some)
                    yield some

            setting, engine = self._setting, self._journalled(fitted)
            count = plan.pool_subset or len(pool) - len(setting.held) - setting.ledger.count
            with meter(count, "scoring", unit="items", show=setting.follow) as advance:
                for found in engine.map(work, shards()):
                    some, bad = handed.popleft(), found.notes["bad"]
                    scored = found.tensors[0] if found.tensors else torch.empty(0)
                    yield [name for name in some if name not in bad], scored, bad
                    advance(len(some))

        return scores

    def _journalled(self, fitted: Fitted) -> Engine:
        """The engine with a journal, so that a run that was killed does not score again what it has."""
        setting, apart = self._setting, {"engine", "engine_options"}
        if setting.store.folder is None or not setting.journal:
            return setting.engine
        said = (fitted.digest(), self._draw, self._plan.model_dump_json(exclude=apart))
        key = sha256(repr((*said, setting.engine.threads, torch.__version__, cpu())).encode()).hexdigest()
        return remembered(setting.engine, setting.store.folder.with_suffix(".scoring"), key)

    def _gather(self, ids: list[str], function: Callable[[Tensor], Tensor]) -> tuple[list[str], Tensor]:
        """What a function gives for many items, read a chunk at a time; and those that could be read."""
        good: list[str] = []
        parts: list[Tensor] = []
        for some in chunks(ids, chunk_size(self._setting.pool)):
            reading = self._setting.pool.read(some)
            self._bad |= reading.quarantined
            good += reading.ids
            if reading.ids:
                parts.append(function(reading.inputs))
        return good, torch.cat(parts) if parts else torch.empty(0)

    def _log_probs(self, inputs: Tensor) -> Tensor:
        engine = self._setting.engine
        return log_probs(self._model(), inputs, draws=self._plan.draws, seed=self._draw, engine=engine)

    def _moments(self, inputs: Tensor) -> Tensor:
        engine = self._setting.engine
        return moments(self._model(), inputs, draws=self._plan.draws, seed=self._draw, engine=engine)

    def _features(self, inputs: Tensor) -> Tensor:
        return features(self._fitted or self._blank(), inputs)

    @cache  # noqa: B019 - a choice lives as long as its question
    def _blank(self) -> Fitted:
        place_axes(self._setting, 0)
        return untrained(self._setting)

    def _model(self) -> Fitted:
        if self._fitted is None:
            raise InputError(f"{self._plan.acquire} and {self._plan.select} need a model; train one first")
        return self._fitted
