"""A disk without space at any write: one line says so, and afterwards the run ends the same to the bit."""

import errno
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from forked import printed
from small_run import TRUTH, learner, outcome

from askwise.errors import StoreError
from askwise.store.contract import Taker
from askwise.store.facts import Answer, Item, Question
from askwise.store.sql import SqlStore
from askwise.store.sql.care import check

CHANGES = {"budget": 7, "keep": 1}


@contextmanager
def disk(folder: Path, kilobytes: int):
    """A real disk of that size, in memory; where none can be mounted the tests are skipped."""
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", folder], capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"no disk can be mounted here: {made.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def complete(path: Path) -> None:
    with learner(path, **CHANGES) as run:
        run.run(oracle=lambda question: TRUTH[question.id])


def filled(folder: Path, kilobytes: int) -> tuple[str, dict]:
    """What a run said on a disk of that size, and its outcome after the disk was made larger."""
    said = ""
    with disk(folder, kilobytes):
        try:
            complete(folder / "run.db")
        except StoreError as error:
            said = str(error)
        subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
        complete(folder / "run.db")
        assert check(folder / "run.db") == []
        return said, outcome(folder / "run.db")


@pytest.fixture(scope="module")
def whole(memory_disk):
    complete(memory_disk / "whole.db")
    return outcome(memory_disk / "whole.db")


def sizes(step: int) -> range:
    return range(20, 240, step)


def test_a_small_disk_that_is_full_is_one_line_and_the_run_ends_the_same(whole, tmp_path):
    for kilobytes in (120, 200):
        said, found = filled(tmp_path / str(kilobytes), kilobytes)
        assert "full" in said or "No space" in said, said
        assert len(said.splitlines()) == 1
        assert found == whole


@pytest.mark.slow
@pytest.mark.parametrize("block", range(5))
def test_small_disks_that_are_full_at_every_size_are_one_line_each(whole, tmp_path, block, record_property):
    refused = 0
    for kilobytes in sizes(4)[block::5]:
        said, found = filled(tmp_path / str(kilobytes), kilobytes)
        refused += bool(said)
        assert not said or (("full" in said or "No space" in said) and len(said.splitlines()) == 1), said
        assert found == whole, kilobytes
    record_property("small disks", len(sizes(4)[block::5]))
    record_property("of them full, refused in one line", refused)


class Full:
    """From one of SQLite's writes on there is no space left, until it is over."""

    def __init__(self, recorder) -> None:
        self.left, self.writes = -1, 0
        recorder.before_write = self

    def __call__(self) -> bool:
        self.writes += 1
        self.left -= 1
        return self.left == 0


def facts(path: Path) -> list:
    store = SqlStore(path, access="read")
    try:
        return store.facts(Item, Question, Answer)
    finally:
        store.close()


def main(folder: Path, every: int) -> None:
    """Print for SQLite's writes what came of a full disk there; run in a process of its own."""
    from simulated_disk import Recorder

    recorder = Recorder()
    full = Full(recorder)

    def steps(path: Path):
        """Every kind of append: items, questions, a lease, an answer; each may be tried again."""
        store = SqlStore(path)
        yield lambda: store.count() or store.append([Item(id=f"item-{n}") for n in range(40)])
        yield lambda: store.facts(Question) or store.append([Question(id="item-1", round=0, rank=0)])
        lease = []
        yield lambda: lease.append(store.lease(Taker("ann", seconds=60))) if not lease else None
        for key in "ab":
            one = Answer(id="item-1", key=key, verdict="label", label=0, question="q42", annotator="ann")
            yield lambda one=one: store.answer([one])
        yield store.close

    def run(path: Path) -> list[str]:
        said: list[str] = []
        for step in steps(path):
            for _ in range(3):
                try:
                    step()
                    break
                except StoreError as error:
                    said.append(str(error))
        return said

    run(folder / "count.db")
    total, wanted = full.writes, [type(fact).__name__ for fact in facts(folder / "count.db")]
    for number in range(1, total + 1, every):
        path = folder / f"{number}.db"
        full.left = number
        try:
            said = run(path)
        except StoreError as error:  # already when it was opened
            said = [str(error), *run(path)]
        found = [type(fact).__name__ for fact in facts(path)]
        wrong = found != wanted or check(path) or len(said) != 1 or len(said[0].splitlines()) != 1
        sys.stdout.write(f"{number} {'wrong' if wrong else 'right'} {said}\n")


def full_at_writes(folder: Path, every: int) -> int:
    """How many of SQLite's writes were tried; each was refused in one line, and then repeated."""
    lines = printed(lambda: main(folder, every)).splitlines()
    assert [line for line in lines if " right " not in line] == []
    return len(lines)


def test_no_space_at_a_write_of_sqlite_is_one_line_and_the_step_can_be_repeated(folder):
    assert full_at_writes(folder, 25) > 5


@pytest.mark.slow
def test_a_disk_full_at_any_write_of_sqlite_is_one_line_and_the_step_can_be_repeated(folder, record_property):
    record_property("full at a write of SQLite", full_at_writes(folder, 1))


def test_control_an_error_that_is_ignored_loses_the_answer(tmp_path):
    """If nothing were refused, the comparison above would show it."""

    def careless(point: str) -> None:
        if point == "within Answer":
            raise OSError(errno.ENOSPC, "No space left on device")

    store = SqlStore(tmp_path / "run.db", on_write=careless)
    store.append([Item(id="a")])
    with suppress(StoreError):
        store.answer([Answer(id="a", key="k", verdict="label", label=0)])
    store.close()
    assert [type(fact) for fact in facts(tmp_path / "run.db")] == [Item]
