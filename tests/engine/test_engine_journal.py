"""A job that is killed and started again computes only what is missing, and never uses a damaged result."""

import itertools
import os
import random
import signal
import struct

import pytest
import torch
from forked import forked

from askwise.engine import Local, ShardResult, Work, remembered
from askwise.engine.journal import shard_key
from askwise.engine.messages import pack, unpack
from askwise.errors import InputError, StoreError

SHARDS = [[at, at + 1] for at in range(6)]


def make(computed=None, *, stop=None):
    """Work that notes what it computes, in this process, and fails at one shard."""

    def compute(shard):
        if shard[0] == stop:
            raise InputError("stopped")
        if computed is not None:
            computed.append(shard[0])
        return ShardResult((torch.tensor(shard) * 1.5,), {"at": shard[0]})

    return lambda: Work(lambda shard: shard, compute)


def packed(results):
    return [pack(one) for one in results]


EXPECTED = packed(Local(1).map(make(), SHARDS))


def begun(folder, stop=4, key="job"):
    """The file of a job that was stopped at a shard."""
    with pytest.raises(InputError, match="stopped"):
        list(remembered(Local(1), folder, key).map(make(stop=stop), SHARDS))
    return folder / f"{key}.shards"


def again(folder, key="job"):
    """The results of the job when it is started again, and what it computed for them."""
    computed = []
    return packed(remembered(Local(1), folder, key).map(make(computed), SHARDS)), computed


def test_without_a_folder_it_is_the_engine_itself():
    engine = Local(1)
    assert remembered(engine, None, "job") is engine


def test_only_the_missing_shards_are_computed(tmp_path):
    begun(tmp_path)
    assert again(tmp_path) == (EXPECTED, [4, 5])


def test_another_job_uses_nothing_of_it(tmp_path):
    begun(tmp_path).rename(tmp_path / "other.shards")
    assert again(tmp_path, key="other") == (EXPECTED, [0, 1, 2, 3, 4, 5])


def test_a_complete_job_that_is_read_to_its_end_leaves_no_file_nor_those_of_others(tmp_path):
    begun(tmp_path, key="older")
    (tmp_path / "notes.txt").touch()
    results = remembered(Local(1), tmp_path, "job").map(make(), SHARDS)
    for _ in SHARDS:
        next(results)
    assert (tmp_path / "job.shards").exists()  # the last result may not have arrived yet
    assert next(results, None) is None
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_an_abandoned_job_keeps_what_it_has(tmp_path):
    results = remembered(Local(1), tmp_path, "job").map(make(), SHARDS)
    assert packed(itertools.islice(results, 3)) == EXPECTED[:3]
    results.close()
    assert again(tmp_path) == (EXPECTED, [3, 4, 5])


def test_a_job_that_was_complete_makes_no_work(tmp_path):
    results = remembered(Local(1), tmp_path, "job").map(make(), SHARDS)
    list(itertools.islice(results, 6))
    results.close()

    def never():
        raise AssertionError("the work was made")

    assert packed(remembered(Local(1), tmp_path, "job").map(never, SHARDS)) == EXPECTED


def test_shards_are_known_by_what_they_are_and_not_by_their_place(tmp_path):
    order = (5, 0, 4, 3, 1, 5)  # and one comes twice
    for engine in (Local(1), Local(2)):
        begun(tmp_path)
        computed = []
        found = remembered(engine, tmp_path, "job").map(make(computed), [SHARDS[at] for at in order])
        assert packed(found) == [EXPECTED[at] for at in order]
        assert computed == ([5, 4] if engine.workers == 1 else [])  # others compute elsewhere


def test_shards_are_taken_as_they_are_needed_also_where_they_are_known(tmp_path):
    begun(tmp_path)
    taken = []
    results = remembered(Local(1), tmp_path, "job").map(make(), (taken.append(s) or s for s in SHARDS))
    next(results)
    assert len(taken) == 1
    results.close()


def test_every_flipped_bit_costs_work_and_no_result(tmp_path, record_property):
    """One bit of every byte; each time the result is right, and something had to be computed again."""
    whole = begun(tmp_path, stop=2).read_bytes()
    rng = random.Random(0)
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << rng.randrange(8)
        tmp_path.mkdir(exist_ok=True)  # the folder goes with a finished job
        (tmp_path / "job.shards").write_bytes(damaged)
        found, computed = again(tmp_path)
        assert found == EXPECTED
        assert computed in ([0, 2, 3, 4, 5], [1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5])
    record_property("shards: flipped bits, the same result", len(whole))


def test_every_truncation_costs_work_and_no_result(tmp_path, record_property):
    whole = begun(tmp_path, stop=2).read_bytes()
    for length in range(len(whole)):
        tmp_path.mkdir(exist_ok=True)  # the folder goes with a finished job
        (tmp_path / "job.shards").write_bytes(whole[:length])
        found, computed = again(tmp_path)
        assert found == EXPECTED
        assert computed == ([0] if length < len(whole) // 2 else []) + [1, 2, 3, 4, 5]
    record_property("shards: cut files, the same result", len(whole))


def test_a_reader_that_does_not_check_returns_wrong_numbers(tmp_path):
    """The control: the flips do reach the numbers."""
    whole = begun(tmp_path, stop=2).read_bytes()
    wrong = 0
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        (size,) = struct.unpack_from("<Q", damaged)
        try:
            found = unpack(bytes(damaged[72 : 72 + size]))
            wrong += pack(found) != EXPECTED[0]
        except Exception:  # noqa: S112 - a flip that is noticed is not what we count
            continue
    assert wrong >= 10


def test_what_is_appended_behind_a_broken_tail_is_found(tmp_path):
    path = begun(tmp_path, stop=3)
    path.write_bytes(path.read_bytes() + b"\x05" * 90)
    with pytest.raises(InputError):
        list(remembered(Local(1), tmp_path, "job").map(make(stop=5), SHARDS))
    assert again(tmp_path) == (EXPECTED, [5])


def killed_after_four(folder):
    def compute(shard):
        with (folder / "computed").open("a") as file:
            file.write(f"{shard[0]}\n")
        return ShardResult((torch.tensor(shard) * 1.5,), {"at": shard[0]})

    engine = remembered(Local(2), folder, "job")
    results = engine.map(lambda: Work(lambda shard: shard, compute), [[at, at + 1] for at in range(6)])
    for at, _ in enumerate(results):
        if at == 3:
            os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_driver_goes_on_where_it_was(tmp_path):
    driver = forked(lambda: killed_after_four(tmp_path))
    assert driver.wait() == -signal.SIGKILL
    driver.end()
    assert again(tmp_path) == (EXPECTED, [4, 5])


@pytest.mark.parametrize("key", ["", ".", "..", "../x", "a/b", "a b", "é", "x" * 300])
def test_a_key_that_is_no_file_name_is_refused(tmp_path, key):
    with pytest.raises(InputError, match="the key of a job names a file"):
        remembered(Local(1), tmp_path, key)


def test_keys_of_shards_depend_on_job_and_shard():
    assert len({shard_key(job, shard) for job in ("a", "b") for shard in SHARDS}) == 12
    assert shard_key("a", [0, "x"]) == shard_key("a", [0, "x"])


def test_a_place_that_cannot_be_written_is_told_in_a_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        list(remembered(Local(1), tmp_path / "file", "job").map(make(), SHARDS))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")  # noqa: PTH110
def test_a_full_disk_is_told_in_a_line(tmp_path):
    (tmp_path / "job.shards").symlink_to("/dev/full")
    with pytest.raises(StoreError, match="No space left on device"):
        list(remembered(Local(1), tmp_path, "job").map(make(), SHARDS))
