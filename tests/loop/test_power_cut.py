"""What was acknowledged survives a power cut at any moment; and the simulation would show it if not."""

import json
import random
import shutil
from pathlib import Path

import pytest
import simulated_disk
from forked import printed
from simulated_disk import Disk
from small_run import outcome

from askwise.errors import AskwiseError
from askwise.loop.added import added
from askwise.store import checkpoints
from askwise.store.facts import Answer
from askwise.store.sql import SqlStore


def recorded(folder: Path, mode: str) -> list[list]:
    folder.mkdir()
    return json.loads(printed(lambda: simulated_disk.main(folder, mode)))


def lost(folder: Path, known: dict) -> list[str]:
    """What was acknowledged before a cut and is not there after it."""
    try:
        store = SqlStore(folder / "run.db", access="read")
    except AskwiseError as error:
        return [str(error)]
    try:
        stored = {(answer.id, answer.label) for answer in store.facts(Answer)}
        found = [f"answer {one}" for one in known["answer"] if one not in stored]
        live = {lease.token for lease in store.leases()}
        found += [f"lease {token}" for token in known["leased"] if token not in live]
        for name in list(known["round"].values())[-1:]:  # older ones go with the next
            place = store.folder / name
            if not place.is_dir() or not checkpoints.digest(place).startswith(name.partition("-")[2]):
                found.append(f"checkpoint {name}")
        kept = {name for pool in added(store) for name in pool.ids}
        return found + [f"added {name}" for name in known["added"] if name not in kept]
    except AskwiseError as error:
        return [str(error)]
    finally:
        store.close()


def cuts(events: list[list], folder: Path, places):
    """A folder as each power cut leaves it, and what had been acknowledged by then."""
    disk, begun = Disk(), False
    known: dict = {"answer": set(), "leased": set(), "round": {}, "added": set()}
    for place, event in enumerate(events):
        match event:
            case ["acknowledged", "answer", name, label]:
                known["answer"].add((name, label))
            case ["acknowledged", "leased", token]:
                known["leased"].add(token)
            case ["given up", token]:
                known["leased"].discard(token)
            case ["acknowledged", "round", number, name]:
                known["round"][number] = name
            case ["acknowledged", "added", *names]:
                known["added"].update(names)
            case _:
                disk.play(event)
        begun = begun or event[0] == "acknowledged"
        if not begun or place not in places:
            continue
        for chance in (None, random.Random(place)):
            after = folder / f"cut-{place}-{chance is None}"
            disk.cut(after, chance)
            yield after, known
            shutil.rmtree(after)


def tried(events: list[list], folder: Path, places) -> tuple[int, list[str]]:
    """How many cuts were tried, and everything that they lost."""
    count, found = 0, []
    for after, known in cuts(events, folder, places):
        count += 1
        found += lost(after, known)
    return count, found


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("recorded") / "run", "loop")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run.db"
    simulated_disk.loop(path, [])
    return settled(path)


def settled(path: Path) -> dict:
    """An outcome without who answered: a lease that was over by then is somebody else's."""
    found = outcome(path)
    return found | {"answers": set(found["answers"])}


def test_the_record_is_of_answers_leases_checkpoints_and_added_items(run):
    kinds = {event[1] for event in run if event[0] == "acknowledged"}
    assert kinds == {"answer", "leased", "round", "added"}
    synced = {event[1].partition("/")[0] for event in run if event[0] == "sync"}
    assert synced == {"run.db", "run.db-journal", "run.db.checkpoints", "run.db.added"}


def test_no_power_cut_loses_what_was_acknowledged(run, tmp_path):
    count, found = tried(run, tmp_path, range(0, len(run), 40))
    assert (count > 50, found) == (True, [])


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_none_of_thousands_of_power_cuts_loses_what_was_acknowledged(run, block, tmp_path, record_property):
    count, found = tried(run, tmp_path, range(block, len(run), 8))
    record_property("power cuts", count)
    assert found == []


@pytest.mark.slow
def test_after_a_power_cut_a_run_ends_the_same_to_the_bit(run, whole, tmp_path, record_property):
    count = 0
    for after, _ in cuts(run, tmp_path, range(25, len(run), len(run) // 30)):
        simulated_disk.loop(after / "run.db", [])
        assert settled(after / "run.db") == whole
        count += 1
    record_property("power cuts after which the run ended the same", count)


@pytest.mark.parametrize("mode", ["OFF", "NORMAL", "FULL"])
def test_control_a_less_durable_mode_is_caught_losing_answers(tmp_path, mode):
    events = recorded(tmp_path / "recorded", mode)
    after_cuts = cuts(events, tmp_path, range(len(events)))
    assert any(lost(after, known) for after, known in after_cuts), "nothing was lost: the test proves nothing"


def test_control_checkpoints_that_are_not_synced_are_caught_missing(run, tmp_path):
    careless = [one for one in run if not (one[0].startswith("sync") and "checkpoints" in one[1])]
    _, found = tried(careless, tmp_path, range(0, len(careless), 40))
    assert any(one.startswith("checkpoint") for one in found)
