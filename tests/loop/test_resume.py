"""Kill -9 anywhere and run again: the same picks, weights and scores to the bit."""

import errno
import os
import random
import shutil
import signal
import time
from functools import partial

import pytest
from small_run import HELD, IDS, POINTS, TRUTH, in_child, learner, network, outcome, pool

from askwise.errors import CorruptError, InputError, SlowPathWarning, StoreError
from askwise.store.facts import Round, Segment
from askwise.store.sql import SqlStore
from askwise.store.sql.care import recover

# Python 3.12 warns of threads; the children here start none and end by _exit
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

WAYS = {
    "scratch": {"budget": 7},
    "warm": {"start": "warm"},
    "eager": {
        "budget": 6,
        "retrain_after": 1,
        "refill_at": 1,
        "select": "power",
        "posterior": {"name": "mc_dropout"},
    },
    "calibrated": {"budget": 7, "start": "warm", "validation": HELD},
    "balanced": {"budget": 7, "initial": {"per_class": 2, "labels": TRUTH}},
    "tested": {"budget": 10, "test": None, "testing": 0.25, "region": 0.5},
}


STRIDE = {
    "scratch": 7,
    "warm": 5,
    "eager": 7,
    "calibrated": 7,
    "balanced": 7,
    "tested": 9,
}  # the slow proof below leaves out nothing


def complete(path, on_write=None, **changes):
    with learner(SqlStore(path, on_write=on_write), **changes) as run:
        run.run(oracle=lambda question: TRUTH[question.id])


@pytest.fixture(scope="module")
def whole(memory_disk):
    """Each way run without interruption: its outcome, and the number of its write points."""
    found = {}
    for way, changes in WAYS.items():
        path = memory_disk / f"{way}.db"
        points = []
        complete(path, points.append, **changes)
        started = time.perf_counter()  # of a second run: the first is slower
        assert in_child(partial(complete, path.with_suffix(".again"), **changes)) == 0
        found[way] = outcome(path), points, time.perf_counter() - started
    return found


def killer(number):
    """A hook that kills its process at the `number`-th write point."""
    left = [number]

    def on_write(point):
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1

    return on_write


@pytest.mark.parametrize("way", WAYS)
def test_an_uninterrupted_run_is_long_enough_to_be_worth_killing(whole, way):
    found, points, _ = whole[way]
    assert len(found["weights"]) >= 2
    assert len(found["answers"]) == WAYS[way].get("budget", 10)
    assert len({weights for _, _, weights, _ in found["weights"]}) == len(found["weights"])
    kinds = {point.split()[1] for point in points}
    assert kinds >= {"Item", "Snapshot", "checkpoint", "Round", "Asked", "Answer"}


def points_to_try(points):
    """One write point of every kind, from the middle of the run where it occurs there."""
    return sorted({point: place for place, point in enumerate(points[: len(points) * 2 // 3])}.values())


def kill_and_finish(path, number, changes):
    assert in_child(lambda: complete(path, killer(number), **changes)) == -signal.SIGKILL
    complete(path, **changes)
    return outcome(path)


@pytest.mark.parametrize("way", WAYS)
def test_killed_at_writes_of_many_kinds_it_ends_the_same(whole, way, folder):
    expected, points, _ = whole[way]
    for number in points_to_try(points)[:: STRIDE[way]]:
        found = kill_and_finish(folder / f"{number}.db", number, WAYS[way])
        assert found == expected, f"killed {points[number]} (point {number})"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("way", WAYS)
def test_killed_at_every_write_it_ends_the_same(whole, way, part, folder, record_property):
    expected, points, _ = whole[way]
    numbers = range(part, len(points), 5)
    for number in numbers:
        found = kill_and_finish(folder / f"{number}.db", number, WAYS[way])
        assert found == expected, f"killed {points[number]} (point {number})"
    record_property("kills of the trainer at a write", len(numbers))


def kill_at_random(whole, folder, kills, seed):
    """How many runs it took to kill so many at random times over their length; all ended the same."""
    chance, killed, runs = random.Random(seed), 0, 0
    while killed < kills:
        runs += 1
        way = chance.choice(list(WAYS))
        expected, _, seconds = whole[way]
        path = folder / f"random-{runs}.db"
        child = os.fork()
        if child == 0:
            try:
                complete(path, **WAYS[way])
            finally:
                os._exit(0)
        time.sleep(chance.uniform(0, seconds))
        os.kill(child, signal.SIGKILL)
        killed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        complete(path, **WAYS[way])
        assert outcome(path) == expected, f"run {runs} ({way})"
    return runs


def test_killed_at_random_times_it_ends_the_same(whole, folder):
    assert kill_at_random(whole, folder, 3, seed=0) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_killed_at_two_hundred_random_times_it_ends_the_same(whole, block, folder, record_property):
    assert kill_at_random(whole, folder, 20, seed=1 + block) < 100
    record_property("kills of the trainer at random", 20)


def test_control_a_store_that_forgets_does_not_end_the_same(whole, folder):
    """If acknowledged facts could vanish, the comparison above would show it."""
    expected, points, _ = whole["scratch"]
    path = folder / "run.db"
    number = next(n for n, point in enumerate(points) if point == "after Answer" and n > len(points) // 2)
    in_child(lambda: complete(path, killer(number), **WAYS["scratch"]))
    before = shutil.copy(path, folder / "before.db")
    kept = len(outcome(before)["answers"])
    found = outcome(path)["answers"]
    forgets = SqlStore(path)
    with forgets._writing() as connection:
        connection.exec_driver_sql("delete from answers where seq = (select max(seq) from answers)")
    forgets.close()
    with pytest.raises(CorruptError, match=f"it has {kept - 1} facts of Answer where {kept} were written"):
        outcome(path)
    recover(path, folder / "again.db")
    assert outcome(folder / "again.db")["answers"] == found[:-1]
    with learner(SqlStore(folder / "again.db"), **WAYS["scratch"]) as run:
        run.run(oracle=lambda question: "red")
    assert outcome(folder / "again.db") != expected


def test_a_pool_in_another_order_gives_the_same_picks_and_weights(whole, folder):
    backwards = pool(POINTS[:40][::-1].copy(), IDS[:40][::-1])
    complete(folder / "run.db", pool=backwards, **WAYS["scratch"])
    found, expected = outcome(folder / "run.db"), whole["scratch"][0]
    for part in ("picks", "answers", "weights", "snapshots"):
        assert found[part] == expected[part]


def test_other_conditions_continue_as_a_noted_segment_and_exact_refuses_by_name(folder, monkeypatch):
    path = folder / "run.db"
    with learner(path) as run:
        run.tell({question.id: TRUTH[question.id] for question in run.ask()})
    monkeypatch.setattr("askwise.loop.assemble.training_threads", lambda *_: 77)
    with pytest.raises(InputError, match=r"the same threads \(was 1, is 77\); restore it, or go on without"):
        learner(path, exact=True)
    with learner(path) as run:
        assert run.status().segments == 2
    with learner(path, exact=True) as run:
        assert run.status().segments == 2
        segment = run.store.facts(Segment)[-1]
    assert (segment.changed, segment.conditions["threads"]) == (["threads"], 77)
    assert {"torch", "cpu", "inner_batch", "device", "network"} <= set(segment.conditions)


def test_other_given_weights_are_another_condition_only_where_training_starts_from_them(folder):
    def moved():
        other = network()
        other[0].weight.data += 1
        return other

    for way, segments in (("scratch", 1), ("given", 2), ("warm", 2)):
        learner(folder / f"{way}.db", start=way).close()
        with learner(folder / f"{way}.db", start=way, network=moved()) as run:
            assert run.status().segments == segments


def damaged(place):
    weights = next(place.glob("*.safetensors"))
    content = bytearray(weights.read_bytes())
    content[-3] ^= 1
    weights.write_bytes(content)


@pytest.mark.parametrize("way", ["scratch", "warm"])
@pytest.mark.parametrize("damage", [damaged, shutil.rmtree, "another round's"])
def test_a_lost_or_damaged_last_checkpoint_is_trained_again_to_the_bit_and_it_is_said(folder, way, damage):
    path = folder / "run.db"
    changes = WAYS[way]
    complete(path, **changes)
    expected = outcome(path)
    before, last = SqlStore(path, access="read").facts(Round)[-2:]
    place = folder / "run.db.checkpoints" / last.checkpoint
    if callable(damage):
        damage(place)
    else:
        shutil.rmtree(place)
        shutil.copytree(place.with_name(before.checkpoint), place)
    with learner(path, **changes) as run:
        with pytest.warns(SlowPathWarning, match=f"round {last.number} was trained again.*same to the bit"):
            found = run.fitted.digest()
        assert found == last.weights
    with learner(path, **changes) as run:  # the checkpoint is there again
        assert run.fitted.digest() == last.weights
    assert outcome(path) == expected


def test_restoring_a_model_leaves_the_given_network_alone(folder):
    path = folder / "run.db"
    complete(path)
    own = network()
    before = {name: value.clone() for name, value in own.state_dict().items()}
    with learner(path, network=own) as run:
        run.predict(IDS[:2])
    assert all(value.equal(before[name]) for name, value in own.state_dict().items())


def test_a_second_learner_on_the_same_store_is_refused_naming_the_process(folder):
    with learner(folder / "run.db"), pytest.raises(StoreError, match=f"pid {os.getpid()}, host"):
        learner(folder / "run.db")
    learner(folder / "run.db").close()


def full_at(number):
    """A hook after which the disk is full at the `number`-th write point, and then has room again."""
    left = [number]

    def on_write(point):
        left[0] -= 1
        if left[0] == -1:
            raise OSError(errno.ENOSPC, "No space left on device")

    return on_write


def fill_and_finish(path, number, changes):
    """The outcome of a run that found the disk full once, and was started again."""
    with pytest.raises(StoreError, match="No space left on device") as said:
        complete(path, full_at(number), **changes)
    assert len(str(said.value).splitlines()) == 1
    complete(path, **changes)
    return outcome(path)


def test_a_disk_that_is_full_at_writes_of_many_kinds_is_one_line_and_the_run_ends_the_same(whole, folder):
    expected, points, _ = whole["scratch"]
    for number in points_to_try(points)[::4]:
        found = fill_and_finish(folder / f"{number}.db", number, WAYS["scratch"])
        assert found == expected, f"full {points[number]} (point {number})"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("way", WAYS)
def test_a_disk_full_at_any_write_is_one_line_and_the_run_ends_the_same(
    whole, way, part, folder, record_property
):
    expected, points, _ = whole[way]
    numbers = range(part, len(points), 5)
    for number in numbers:
        found = fill_and_finish(folder / f"{number}.db", number, WAYS[way])
        assert found == expected, f"full {points[number]} (point {number})"
    record_property("full at a write of a run", len(numbers))
