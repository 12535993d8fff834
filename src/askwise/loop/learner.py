"""The whole loop as one object: ask, tell, run, predict."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Unpack

from torch import nn

from askwise.acquire import as_acquisition
from askwise.assess import Annotators
from askwise.bayes.fitted import Fitted, as_network
from askwise.bayes.predict import predict
from askwise.engine import Engine, open_engine
from askwise.errors import InputError, positive
from askwise.loop import edits
from askwise.loop import run as loop
from askwise.loop.added import keep_added
from askwise.loop.answers import tell
from askwise.loop.assemble import Given, assemble
from askwise.loop.audit import Audit, audit
from askwise.loop.choices import Choices, chosen_plan
from askwise.loop.decide import Stop, Wait
from askwise.loop.featured import seen_by
from askwise.loop.finding import Finder
from askwise.loop.live import CHECKPOINT, Live
from askwise.loop.models import final_model, handed_over
from askwise.loop.opening import retry, set_aside, sync_grown
from askwise.loop.perform import ask_questions
from askwise.loop.plan import Plan
from askwise.loop.plan_rules import acquisition, ready
from askwise.loop.quality import Quality
from askwise.loop.questions import Questions, open_questions
from askwise.loop.shares import Share, share_of
from askwise.loop.status import Status, status
from askwise.loop.suspects import Suspect, annotators_of, suspects_of
from askwise.markup import card
from askwise.oracle import AnyOracle, Oracle, open_oracle
from askwise.pool import Item, Pool, as_pool
from askwise.store.contract import Store
from askwise.store.facts import Answer, Resolution, Round
from askwise.tasks import Prediction, Task
from askwise.train.progress import Follow


class Learner:
    """A network that asks for the labels it needs.

    `task` says what a label is: one of `classes` (classification), a set of `tags` (multilabel), `numbers`
    (regression; one unless they are named), or a mask of `classes` (segmentation); a name or a task with
    options. Every choice may also come as a `plan`. With a `store` on disk everything that was told is
    safe, and a process that was killed goes on where it was. `initial` is a number of items, ids, labels
    by id, or (x, y); or a number of items per class, `{"per_class": 2, "labels": ...}` with labels by id or
    a file of them, which are asked first. `validation` and `test` are labels by id or (x, y); items of the
    pool with these ids, or with the contents of x, are never asked and never trained on. `exact`
    refuses to go on under other conditions. `progress` shows a bar for what takes longer than two
    seconds. A frozen encoder (`aw.nets.encoded`) runs once for each item, and its features are kept
    beside the store; with `partial` questions come from what is encoded so far, while
    `aw.pool.encode_ahead` goes on elsewhere.

    >>> learner = aw.Learner(network, pool=x, classes=["no", "yes"], batch=5, seed=0)
    >>> questions = learner.ask()
    >>> answers = learner.tell({question.row: int(y[question.row]) for question in questions})
    >>> len(answers)
    5
    """

    def __init__(
        self,
        network: nn.Module,
        *,
        pool: Any,
        task: str | Task | Mapping[str, Any] | None = None,
        classes: int | Iterable[str | int] | None = None,
        tags: int | Iterable[str | int] | None = None,
        numbers: int | Iterable[str | int] | None = None,
        plan: Plan | None = None,
        store: str | Path | Store | None = None,
        initial: Any = None,
        validation: Any = None,
        test: Any = None,
        exact: bool = False,
        partial: bool = False,
        progress: Follow = False,
        **choices: Unpack[Choices],
    ) -> None:
        labels = {"task": task, "classes": classes, "tags": tags, "numbers": numbers}
        plan = chosen_plan(plan, labels, dict(choices))
        own = choices.get("acquire")
        acquired = acquisition(plan) if own is None or isinstance(own, str) else as_acquisition(own)[1]
        ready(plan)
        chosen = choices.get("engine")
        self._items = as_pool(pool)
        self.setting = assemble(
            as_network(network),
            self._items,
            plan,
            Given(initial, validation, test),
            store=store,
            acquisition=acquired,
            engine=chosen if isinstance(chosen, Engine) else open_engine(plan.engine, **plan.engine_options),
            exact=exact,
            partial=partial,
            progress=progress,
        )
        """What the loop acts upon (models, ledger, test items): for code inside askwise and its tests."""

    def ask(self) -> Questions:
        """The open questions, best first; asked again, the same ones until they are answered.

        Where there is nothing to ask the list is empty, and its `reason` says why.
        """
        outcome = loop.advance(self.setting)
        found = open_questions(self.setting)
        return Questions(found, reason=outcome.reason if isinstance(outcome, Stop) else None)

    def tell(
        self, answers: Mapping[Any, Any], *, annotator: str = "", key: str | None = None
    ) -> list[Answer]:
        """The answer that now holds for each item: a label, SKIP, CANNOT_TELL or RETRACT.

        A label is a class or its number; a collection of tags, or a mapping from tags to True, False and
        None for unknown; a number or several; a mask, as an array [H, W] or the path of a picture.

        `answers` is a mapping by id; rows of the array and names of files do as well, where they are
        unique. A new value for an answered item corrects it. When this returns, the answers are on
        the disk.
        """
        if not isinstance(answers, Mapping):
            raise InputError(
                f"tell takes labels by id, {{question.id: label}}, not a {type(answers).__name__}"
            )
        return tell(self.setting, answers, annotator=annotator, key=key)

    def run(self, *, oracle: AnyOracle, on_action: loop.OnAction | None = None) -> Wait | Stop:
        """How the run ended: stopped, or waiting for answers that the oracle does not have.

        `oracle` is a path, a mapping of labels by id, row or name, a function of a question, or an
        Oracle. `on_action` is called with every action before it is performed.
        """
        return loop.run(self.setting, self._oracle(oracle), on_action=on_action)

    def live(self, *, checkpoint: int = CHECKPOINT) -> Live:
        """The loop beside a person: step by step, as answers come in from elsewhere.

        Every `checkpoint` answers the model is kept on the disk.
        """
        return Live(self.setting, checkpoint=checkpoint)

    @property
    def plan(self) -> Plan:
        """Every choice of the run."""
        return self.setting.plan

    @property
    def items(self) -> Pool:
        """The items as they were given."""
        return self._items

    @property
    def pool(self) -> Pool:
        """The items as the network takes them: where an encoder is frozen, their features."""
        return self.setting.pool

    @property
    def store(self) -> Store:
        """Where the facts of the run are kept: questions, answers, rounds."""
        return self.setting.store

    @property
    def fitted(self) -> Fitted:
        """The current model, trained in the last round and tempered by validation data or test answers."""
        return self._latest()[1]

    def _latest(self) -> tuple[int, Fitted]:
        number, fitted = handed_over(self.setting)
        if fitted is None:
            raise InputError("there is no model yet; answer the questions of ask() first")
        return number, fitted

    def item(self, key: str | int) -> Item:
        """One item of the pool, by its id, its row or its name: its input, where it came from, its name."""
        return self._items.item(key)

    def predict(self, inputs: Any) -> Prediction:
        """The mean prediction for each input, and its total, epistemic and aleatoric uncertainty.

        `inputs` are a tensor, an array, a Dataset, a table or a Pool; a folder or file like the one the
        pool was read from; or ids of its items.
        """
        (number, fitted), plan = self._latest(), self.setting.plan
        seed = plan.draw_seed(number)
        rows = seen_by(fitted.network, self._inputs(inputs))
        return predict(fitted, rows, draws=plan.draws, seed=seed, engine=self.setting.engine)

    def _inputs(self, given: Any) -> Any:
        if isinstance(given, str | Path):
            return self._items.again(given)
        if isinstance(given, list | tuple) and given and all(isinstance(one, str) for one in given):
            return self._items.inputs([self._items.find(one) for one in given])
        return given

    def status(self) -> Status:
        """How far the run is, how good its last model is, and what comes next."""
        return status(self.setting.store)

    def rounds(self) -> list[Round]:
        """Every model trained so far: labels, metrics, seconds, hash of the weights."""
        return list(self.setting.rounds)

    def labels(self) -> dict[str, Any]:
        """The labels that are learned from, by id, written as a file of labels writes them.

        What was skipped has none; answers to test questions are not among them.
        """
        found = self.setting.ledger.refresh().labels
        return {name: self.setting.labelling.text(found[name]) for name in sorted(found)}

    def add(self, more: Any) -> list[str]:
        """The ids of the items that the pool has gained; a store on disk keeps them as part of the run.

        What a Learner takes as its pool is taken here too. The rows of what is added go on where the
        pool's end: after `add(new)` to a pool of 30 rows, `new[0]` is row 30.
        """
        pool, here = as_pool(more), self.setting.pool
        new = [name for name in pool.ids if name not in here]
        keep_added(self.setting.store, pool, new, first=here.rows)
        new = self.setting.pool.add(pool)
        sync_grown(self.setting)
        return new

    def rename(self, old: str, new: str) -> None:
        """Give a class or a tag another name; its labels stay."""
        edits.change(self.setting, "rename", old, [new])

    def merge(self, old: str, into: str) -> None:
        """Count the labels of one class as those of another from now on."""
        edits.change(self.setting, "merge", old, [into])

    def split(self, old: str, into: Iterable[str]) -> None:
        """Ask again about the items of a class that has become several; these must be classes already."""
        edits.change(self.setting, "split", old, list(into))

    def retire(self, old: str) -> None:
        """Take a class out of use; its items may be asked about again."""
        edits.change(self.setting, "retire", old)

    def resolve(self, labels: Mapping[Any, Any], *, annotator: str = "", note: str = "") -> list[Resolution]:
        """Settle items whatever was answered: labels by id, SKIP or CANNOT_TELL; the stored resolutions."""
        return edits.resolve(self.setting, labels, annotator=annotator, note=note)

    def kept_for_testing(self) -> frozenset[str]:
        """The items kept for testing, to be labelled only when asked; empty before the first question."""
        testing = self.setting.testing()
        return frozenset(testing.order()) if testing.begun else frozenset()

    def set_aside(self, reasons: Mapping[str, str]) -> list[str]:
        """The ids of items that will not be asked, and were not yet: bad ones, or copies of others."""
        return set_aside(self.setting, reasons)

    def retry(self) -> list[str]:
        """The ids of quarantined items that can be read again, and are back in the pool."""
        return retry(self.setting)

    def certify(
        self,
        *,
        error: int | float,
        confidence: int | float = 0.95,
        checks: int = 200,
        oracle: AnyOracle | None = None,
    ) -> Audit:
        """Labels of which at most a share of `error` is wrong, or why there are none, or checks to answer.

        The last model labels all items that have no answer; some of them are checked, in a random order.
        """
        answers = None if oracle is None else self._oracle(oracle)
        with self.setting.acting:
            return audit(self.setting, error=error, confidence=confidence, checks=checks, oracle=answers)

    def estimate(
        self,
        label: str,
        *,
        parts: Mapping[str, str] | None = None,
        width: int | float | None = None,
        alpha: int | float = 0.05,
    ) -> list[Share]:
        """The share of a class, or the mean of a number, over the pool; then over every part of it."""
        return share_of(self.setting, label, parts=parts, width=width, alpha=alpha)

    def ask_tests(self, count: int) -> Questions:
        """Ask `count` more test questions, drawn uniformly; returns all open questions."""
        with self.setting.acting:
            self.setting.refresh()
            ask_questions(self.setting, 0, tests=positive("count", count))
            self.setting.refresh()
        return Questions(open_questions(self.setting), reason=None)

    def suspects(self, *, count: int | None = None) -> list[Suspect]:
        """Labels that the model disagrees with, the most suspect first."""
        return suspects_of(self.setting, count=count)

    @cached_property
    def finder(self) -> Finder:
        """Items like others, of a class, or on a map of the pool; never one that is kept for testing."""
        return Finder(self.setting)

    def annotators(self) -> tuple[list[str], Annotators] | None:
        """Who answered, and how good each is; None where too few items have two answers."""
        return annotators_of(self.setting)

    def finish(self) -> tuple[Fitted, int, Quality | None]:
        """A model of all answers, test answers included; their number; how good the model before it was."""
        return final_model(self.setting)

    def _oracle(self, source: AnyOracle) -> Oracle:
        given: AnyOracle = source
        if isinstance(source, Mapping):
            given = self._items.by_id(source)
            if given and not any(key in self._items for key in given):
                self._items.find(next(iter(given)))  # it says why, and what is nearest
        return open_oracle(given, classes=self.setting.labelling, find=self._items.find)

    def __repr__(self) -> str:
        """What it learns with and from; `status()` says how far it is."""
        plan, network = self.plan, type(self.setting.network).__name__
        asks = f"{plan.posterior['name']}, {plan.acquire}"
        return f"Learner({network}, {asks}, {self.pool!r}, store {self.store.name})"

    def _repr_html_(self) -> str:
        now = self.status()
        plan, counts = now.plan, now.counts
        measured = now.metrics.get("test") or now.metrics.get("validation") or {}
        numbers = ", ".join(f"{key} {value:.3f}" for key, value in measured.items() if _is_number(value))
        facts = [
            ("task", f"{plan.kind}: {', '.join(plan.names)}"),
            ("posterior", str(plan.posterior["name"])),
            ("asks", f"{plan.batch} at a time by {plan.acquire}, {plan.select}"),
            ("labels", f"{counts.labelled} of {plan.budget}"),
            ("open questions", str(counts.open)),
            ("last model", numbers),
            ("next", now.next),
            ("store", now.store),
        ]
        return card("Learner", facts)

    def close(self) -> None:
        """Let another process go on with the store."""
        self.setting.store.close()

    def __enter__(self) -> "Learner":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
