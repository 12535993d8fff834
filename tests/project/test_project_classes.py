"""Classes that change at 200 labels: what is asked again, and what exports say before and after."""

import shutil

import numpy as np
import pytest

from askwise.errors import InputError
from askwise.export.labels import labels_of
from askwise.loop.opening import stored_classes
from askwise.oracle.labelling import labelling
from askwise.project import Project
from askwise.project.classes import edit_classes
from askwise.runs.build import learner
from askwise.runs.material import material, read_plan
from askwise.store import open_store
from askwise.store.facts import ClassEdit, Planned, Question
from askwise.store.ledger import Ledger
from askwise.store.memory import MemoryStore

NAMES = ("a", "b", "c", "d")
PLAN = """classes = ["a", "b", "c", "d"]
data = {data}
network = "linear"
acquire = "margin"
initial = 200
batch = 20
budget = 260
[posterior]
name = "laplace"
[training]
epochs = 3
"""


def opened(project):
    plan = read_plan(project.plan)
    known = material(plan, folder=project.folder)
    return learner(plan, known, store=project.store, folder=project.folder)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project of 260 rows in four clouds, of which 200 are labelled by their cloud."""
    project = Project(tmp_path_factory.mktemp("clouds") / "project")
    project.folder.mkdir()
    cloud = np.arange(260) % 4
    rows = (
        np.random.default_rng(0).normal(size=(260, 2)) + np.array([[6, 0], [0, 6], [-6, 0], [0, -6]])[cloud]
    )
    np.save(project.folder / "rows.npy", rows.astype(np.float32))
    project.plan.write_text(PLAN.format(data=repr(str(project.folder / "rows.npy"))))
    with opened(project) as run:
        run.tell({one.id: NAMES[one.row % 4] for one in run.ask()})
    return project


@pytest.fixture
def project(made, tmp_path):
    shutil.copytree(made.folder, tmp_path / "project")
    return Project(tmp_path / "project")


def changed(project, edit, name, *to):
    store = open_store(project.place, access="answer")
    try:
        return edit_classes(project, store, edit, name, to, by="ann")
    finally:
        store.close()


def labels(project):
    store = open_store(project.place, access="read")
    try:
        return Ledger(store).labels
    finally:
        store.close()


def exported(project):
    store = open_store(project.place, access="read")
    try:
        kind = labelling(read_plan(project.plan).task, stored_classes(store))
        return {one.id: one.told for one in labels_of(store, kind)}
    finally:
        store.close()


def asked_next(project, count=1):
    """The items of the next questions, each answered as the first class it may be."""
    with opened(project) as run:
        found = []
        while len(found) < count:
            now = run.ask()
            found += [one.id for one in now]
            run.tell({one.id: one.guess or "a" for one in now})
        return found


def test_a_rename_asks_nothing_again(project):
    before = labels(project)
    changed(project, "rename", "a", "alpha")
    assert labels(project) == before
    assert len(before) == 200
    assert not before.keys() & set(asked_next(project))


def test_a_merge_asks_nothing_again_and_its_labels_count_for_the_other(project):
    before = labels(project)
    changed(project, "merge", "a", "b")
    assert labels(project) == {name: label or 1 for name, label in before.items()}
    assert not before.keys() & set(asked_next(project))


def test_a_split_asks_exactly_its_class_again_before_anything_else(project):
    before = labels(project)
    mine = {name for name, label in before.items() if label == 0}
    changed(project, "split", "a", "a1", "a2")
    assert labels(project) == {name: label for name, label in before.items() if name not in mine}
    store = open_store(project.place, access="read")
    assert Ledger(store).split == dict.fromkeys(mine, (4, 5))
    store.close()
    found = asked_next(project, count=len(mine))
    assert set(found[: len(mine)]) == mine
    assert not set(found[len(mine) :]) & before.keys()


def test_control_the_items_of_a_retired_class_go_back_among_the_others(project):
    before = labels(project)
    mine = {name for name, label in before.items() if label == 0}
    changed(project, "retire", "a")
    assert labels(project) == {name: label for name, label in before.items() if name not in mine}
    with opened(project) as run:
        asked = {one.id for one in run.ask()}
    assert asked - mine  # a split would have asked about its own alone
    assert not asked & before.keys() - mine


def test_the_questions_of_a_split_come_sorted_by_the_part_that_the_model_guesses(project):
    mine = sorted(name for name, label in labels(project).items() if label == 0)
    changed(project, "split", "a", "a1", "a2")
    parts = {name: ("a1", "a2")[at % 2] for at, name in enumerate(mine)}
    with opened(project) as run:
        for _ in range(2):
            run.tell({one.id: parts[one.id] for one in run.ask() if one.id in parts})
    store = open_store(project.place, access="read")
    rounds = [one for one in store.facts(Question) if one.id in parts and one.guess is not None]
    store.close()
    last = [one.guess for one in sorted(rounds, key=lambda one: (one.revision, one.rank))][-20:]
    assert set(last) <= {4, 5}
    assert last == sorted(last)


@pytest.mark.parametrize(
    "edit", [("rename", "a", "alpha"), ("merge", "a", "b"), ("retire", "a"), ("split", "a", "a1", "a2")]
)
def test_an_export_before_and_the_edit_give_the_export_after(project, made, tmp_path, edit):
    before = exported(project)
    changed(project, *edit)
    after = exported(project)
    assert after != before
    again = Project(tmp_path / "again")
    shutil.copytree(made.folder, again.folder, ignore=shutil.ignore_patterns("store.db*"))
    with opened(again) as run:
        run.tell(before)
    assert exported(again) == before
    changed(again, *edit)
    assert exported(again) == after
    third = Project(tmp_path / "third")  # and the export after it replays under the new names alone
    shutil.copytree(again.folder, third.folder, ignore=shutil.ignore_patterns("store.db*"))
    with opened(third) as run:
        run.tell(after)
    assert exported(third) == after


def test_the_plan_of_the_file_and_of_the_facts_follow_a_change(project):
    changed(project, "split", "a", "a", "z")
    wanted = ["a (before the split)", "b", "c", "d", "a", "z"]
    assert list(read_plan(project.plan).classes) == wanted
    store = open_store(project.place, access="read")
    assert store.facts(Planned)[-1].plan["classes"] == wanted
    assert [one.edit for one in store.facts(ClassEdit)][4:] == ["rename", "add", "add", "split"]
    store.close()


def test_a_tag_is_not_split_and_the_refusal_says_what_to_do_instead(tmp_path):
    project = Project(tmp_path)
    tagged = PLAN.replace('classes = ["a", "b", "c", "d"]', 'task = "multilabel"\ntags = ["a", "b"]')
    project.plan.write_text(tagged.replace("margin", "bald").format(data=repr("rows.npy")))
    with pytest.raises(InputError, match=r"'a' cannot be split.*add its parts as tags.*then retire it"):
        edit_classes(project, MemoryStore(), "split", "a", ["a1", "a2"])
