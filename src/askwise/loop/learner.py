"""The whole loop as one object: ask, tell, run, predict."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypedDict, Unpack

import numpy as np
from torch import Tensor, nn

from askwise.acquire import ACQUISITIONS
from askwise.bayes.learning import training_threads
from askwise.bayes.predict import predict
from askwise.engine import open_engine
from askwise.errors import InputError, check_options
from askwise.loop import run as loop
from askwise.loop.answers import tell
from askwise.loop.conditions import conditions
from askwise.loop.configs import posterior, posterior_table, training, training_table
from askwise.loop.decide import Stop, Wait
from askwise.loop.featured import encoder_condition, feature_inputs, feature_pool, head_of, seen_by
from askwise.loop.opening import check_outputs, open_run, sync_grown
from askwise.loop.parts import balanced, balanced_before, initial_part, measured_part
from askwise.loop.plan import Plan, make
from askwise.loop.setting import Labelled, Setting
from askwise.loop.status import Status, status
from askwise.oracle import AnyOracle, open_oracle
from askwise.pool import Pool, arrays, dataset
from askwise.pool.pool import Source
from askwise.seeding import derive
from askwise.selection import SELECTIONS
from askwise.store import open_store
from askwise.store.classes import position
from askwise.store.contract import Store
from askwise.store.facts import Answer, ClassName, Planned, Quarantine, Question, Round
from askwise.store.ledger import Ledger
from askwise.tasks import Prediction
from askwise.train.progress import Follow


class Choices(TypedDict, total=False):
    """The fields of a plan that a learner takes as they are; `loop/plan.py` says what each means."""

    posterior: Any
    acquire: str
    acquire_options: Mapping[str, Any]
    select: str
    select_options: Mapping[str, Any]
    batch: int
    budget: int
    train: str
    training: Any
    recalibrate: bool | None
    draws: int
    draw: str
    pool_subset: int | None
    shortlist: int
    targets: int
    retrain_after: int | None
    refill_at: int
    keep: int
    seed: int
    device: str
    engine: str
    engine_options: Mapping[str, Any]


class Learner:
    """A network that asks for the labels it needs.

    With a `store` on disk everything that was told is safe, and a process that was killed goes on
    where it was. `initial` is a number of items, ids, labels by id, or (x, y); or so many items of each
    class, `{"per_class": 2, "labels": labels by id or a file of them}`, which are asked first.
    `validation` and `test` are labels by id or (x, y). `exact` refuses to go on under other conditions.
    `progress` shows a bar for what takes longer than two seconds. A frozen encoder (`aw.nets.encoded`)
    runs once for each item, and its features are kept beside the store.
    """

    def __init__(
        self,
        network: nn.Module,
        *,
        pool: Any,
        classes: int | Iterable[str | int],
        store: str | Path | Store | None = None,
        initial: Any = None,
        validation: Any = None,
        test: Any = None,
        exact: bool = False,
        progress: Follow = False,
        **choices: Unpack[Choices],
    ) -> None:
        plan = _plan(dict(choices) | {"classes": classes})
        items = _pool(pool)
        check_outputs(network, items.like(), plan.classes)
        first, labels = initial_part(initial, items)
        parts = {"initial": first}
        measured, held = {}, frozenset[str]()
        for name, given in (("validation", validation), ("test", test)):
            parts[name], data, ids = measured_part(name, given, items, plan.classes)
            held |= ids
            if data is not None:
                measured[name] = data
        early = training(plan.training).patience is not None
        if (plan.recalibrate or early) and "validation" not in measured:
            option = "recalibrate" if plan.recalibrate else "patience"
            raise InputError(f"{option} needs validation data; pass validation=..., or leave {option} out")
        plan = make(plan.model_dump() | parts)
        if plan.initial.per_class is not None and not _begun(store):
            # now, so that a run that is refused leaves no store behind
            plan = balanced(plan, initial.get("labels"), items, held)
        engine = open_engine(plan.engine, **plan.engine_options)
        kept = open_store(store)
        try:
            if plan.initial.per_class is not None and not plan.initial.ids:
                plan = balanced_before(plan, kept) or balanced(plan, initial.get("labels"), items, held)
            now = {**conditions(plan, network), **encoder_condition(network)}
            if (head := head_of(network, items.like(), plan)) is not None:
                network, items = head, feature_pool(head, items, kept)
                for name, given in (("validation", validation), ("test", test)):
                    if (data := measured.get(name)) is not None:
                        inputs = feature_inputs(head, data.inputs, given, items, kept, progress)
                        measured[name] = Labelled(inputs, data.labels)
            # of what is trained: with an encoder that is the head on its features
            now["threads"] = training_threads(network, items.like()[None], training(plan.training))
            self._setting = Setting(
                plan, network, items, kept, Ledger(kept), held, measured, engine, progress
            )
            open_run(self._setting, now, exact=exact)
            tell(self._setting, labels, author="initial", key="initial")
        except BaseException:
            kept.close()
            raise

    def ask(self) -> list[Question]:
        """The open questions, best first; asked again, the same ones until they are answered."""
        loop.advance(self._setting)
        return self._setting.ledger.questions()

    def tell(self, answers: Mapping[str, Any], *, author: str = "", key: str | None = None) -> list[Answer]:
        """The answer that now holds for each item: a class, its number, SKIP or CANNOT_TELL.

        A new value for an answered item corrects it. When this returns, the answers are on the disk.
        """
        return tell(self._setting, answers, author=author, key=key)

    def run(self, *, oracle: AnyOracle, progress: loop.Watch | None = None) -> Wait | Stop:
        """How the run ended: stopped, or waiting for answers that the oracle does not have.

        `oracle` is a path, a mapping of labels, a function of a question, or an Oracle.
        """
        return loop.run(
            self._setting, open_oracle(oracle, classes=self._setting.plan.classes), watch=progress
        )

    def predict(self, inputs: Tensor) -> Prediction:
        """The mean prediction for each input, and its total, epistemic and aleatoric doubt."""
        self._setting.refresh()
        fitted = self._setting.model()
        if fitted is None:
            raise InputError("there is no model yet; answer the questions of ask() first")
        inputs = seen_by(fitted.network, inputs)
        plan = self._setting.plan
        seed = derive(plan.seed, "draw", len(self._setting.rounds))
        return predict(fitted, inputs, draws=plan.draws, seed=seed, engine=self._setting.engine)

    def status(self) -> Status:
        """How far the run is, how good its last model is, and what comes next."""
        return status(self._setting.store, self._setting.ledger)

    def rounds(self) -> list[Round]:
        """Every model trained so far: labels, metrics, seconds, hash of the weights."""
        return self._setting.store.facts(Round)

    def add(self, more: Pool | Source) -> list[str]:
        """The ids of the items that the pool has gained."""
        new = self._setting.pool.add(more)
        sync_grown(self._setting)
        return new

    def rename(self, old: str, new: str) -> None:
        """Give a class another name; its labels stay."""
        setting = self._setting
        place = position(old, setting.plan.classes, what="the class to rename")
        renamed = [*setting.plan.classes[:place], new, *setting.plan.classes[place + 1 :]]
        setting.plan = make(setting.plan.model_dump() | {"classes": renamed})
        setting.store.append(
            [ClassName(position=place, name=new), Planned(plan=setting.plan.model_dump(mode="json"))]
        )

    def retry(self) -> list[str]:
        """The ids of quarantined items that can be read again, and are back in the pool."""
        setting = self._setting
        held = [name for name in setting.ledger.refresh().quarantined if name in setting.pool]
        back = setting.pool.read(held).ids
        setting.store.append([Quarantine(id=name, reason=None) for name in back])
        return back

    def close(self) -> None:
        """Let another process go on with the store."""
        self._setting.store.close()

    def __enter__(self) -> "Learner":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _plan(values: dict[str, Any]) -> Plan:
    """The plan without its labelled data; what would fail in the first round is refused now."""
    known = {name: value for name, value in values.items() if value is not None}
    if "posterior" in known:
        known["posterior"] = posterior_table(known["posterior"])
    if "training" in known:
        known["training"] = training_table(known["training"])
    plan = make(known)
    posterior(plan.posterior)
    training(plan.training)
    acquisition, selection = ACQUISITIONS[plan.acquire].function, SELECTIONS[plan.select].function
    check_options(
        f"acquisition {plan.acquire!r}", acquisition, plan.acquire_options, given=("seed", "targets")
    )
    check_options(
        f"selection {plan.select!r}",
        selection,
        plan.select_options,
        given=("count", "seed", "ids", "labelled"),
    )
    return plan


def _begun(store: str | Path | Store | None) -> bool:
    """Whether the store may know already how the run began."""
    return Path(store).exists() if isinstance(store, str | Path) else store is not None


def _pool(items: Any) -> Pool:
    if isinstance(items, Pool):
        return items
    if isinstance(items, np.ndarray | Tensor):
        return arrays(items)
    return dataset(items)
