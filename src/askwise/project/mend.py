"""Labels that were wrong, mended in a project while it may be in use."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from torch import nn

from askwise.errors import InputError
from askwise.loop.answers import tell
from askwise.loop.plan import make
from askwise.loop.setting import Setting
from askwise.oracle.labelling import Labelling
from askwise.project import Project
from askwise.runs.material import material, read_plan
from askwise.store import CANNOT_TELL, RETRACT, SKIP, open_store
from askwise.store.facts import Planned, Told
from askwise.store.ledger import Ledger

WORDS: Mapping[str, Told] = {"skip": SKIP, "cannot_tell": CANNOT_TELL, "retract": RETRACT}


@dataclass(frozen=True)
class Corrected:
    """An item, and what was said of it before and after; None where nothing was."""

    id: str
    before: str | None
    after: str | None


def correct(project: Project, told: Mapping[str, str], *, annotator: str = "") -> list[Corrected]:
    """What was said of items before and after; `told` are classes, `skip`, `cannot_tell` or `retract`.

    Items are named by id, row or file. The model learns it in the next round; the history keeps both.
    """
    with _opened(project) as setting:
        kind, ledger = setting.labelling, setting.ledger
        values = {setting.pool.typed(key): _told(value, kind) for key, value in told.items()}
        before = {name: _standing(ledger, name, kind) for name in values}
        # who corrects knows what was said, so it is no second opinion on how often annotators agree
        tell(setting, values, annotator=annotator, view="check")
        ledger.refresh()
        return [Corrected(name, before[name], _standing(ledger, name, kind)) for name in values]


@dataclass(frozen=True)
class Taken:
    """How many labels came from elsewhere, how many of them are new, and what was left out and why."""

    labels: int
    new: int
    unmatched: dict[str, str]


def take_in(
    project: Project,
    told: Mapping[str, Mapping[str, Told]],
    *,
    find: Callable[[str, Callable[[str | int], str]], str],
) -> Taken:
    """Take labels of other tools into the store, by annotator and by what they call the items.

    `find` turns such a name into an id. Items held out or kept for testing are left out, each with why.
    """
    labels, new, unmatched = 0, 0, dict[str, str]()
    with _opened(project) as setting:
        before, testing = setting.store.revision, setting.testing()
        for annotator, said in told.items():
            values: dict[str, Told] = {}
            for called, value in said.items():
                try:
                    name = find(called, setting.pool.find)
                except InputError as error:
                    unmatched[called] = str(error).partition(";")[0]
                    continue
                if name in setting.held or (testing.begun and name in testing and name not in testing.trials):
                    unmatched[called] = f"item {name!r} is kept for testing, and is not learned from"
                else:
                    values[name] = value
            stored = tell(setting, values, annotator=annotator) if values else []
            labels, new = labels + len(stored), new + sum(one.revision > before for one in stored)
    return Taken(labels, new, unmatched)


@contextmanager
def _opened(project: Project) -> Iterator[Setting]:
    """The project's facts and items, for answers."""
    known = material(read_plan(project.plan), folder=project.folder)
    store = open_store(project.place, access="answer")
    try:
        plan = make(store.facts(Planned)[-1].plan)
        held = frozenset({*plan.validation.ids, *plan.test.ids})
        ledger = Ledger(store).refresh()
        yield Setting(plan, nn.Identity(), known.pool, store, ledger, held, synced=len(known.pool))
    finally:
        store.close()


def _told(value: str, kind: Labelling) -> Told:
    return WORDS[value] if value in WORDS and value not in kind.names else kind.said(value, what="the label")


def _standing(ledger: Ledger, name: str, kind: Labelling) -> str | None:
    label = ledger.labels.get(name)
    return ledger.skipped.get(name) if label is None else kind.text(label)
