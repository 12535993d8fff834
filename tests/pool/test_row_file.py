"""Rows on the disk: what is damaged, cut off or half written is as if it were not there."""

import os
import pickle
import signal
import sys
import threading
import time

import numpy as np
import pytest
from run_outcome import in_child

from askwise.errors import InputError, SlowPathWarning
from askwise.pool.row_file import FileRows, _locked, row_key

# Python 3.12 warns of threads; the children here start none and end by _exit
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

WIDTH = 5
RECORD = 16 + 4 * WIDTH + 8
KEYS = [row_key(f"item-{number}", "stamp") for number in range(40)]
ROWS = np.random.default_rng(0).normal(size=(40, WIDTH)).astype(np.float32)


def opened(folder, **changes) -> FileRows:
    return FileRows(folder, **{"encoder": "abc", "width": WIDTH} | changes)


def filled(folder, count=40) -> FileRows:
    kept = opened(folder)
    kept.add(KEYS[:count], ROWS[:count])
    return kept


def wrong_rows(kept: FileRows) -> int:
    """How many rows are given out that are not those that were put in."""
    there, rows = kept.find(KEYS)
    return int((rows != ROWS[there]).any(axis=1).sum())


def test_rows_come_back_in_the_order_of_the_keys(tmp_path):
    for kept in (filled(tmp_path), opened(tmp_path)):
        order = np.random.default_rng(1).permutation(40)
        there, rows = kept.find([KEYS[at] for at in order])
        assert there.all()
        assert (rows == ROWS[order]).all()
        there, rows = kept.find([b"?" * 16, KEYS[3], KEYS[3]])
        assert there.tolist() == [False, True, True]
        assert (rows == ROWS[[3, 3]]).all()


def test_the_later_of_two_rows_with_one_key_holds(tmp_path):
    first = filled(tmp_path, 3)
    first._place.clear()  # as if they had been found damaged
    first.add(KEYS[:3], ROWS[10:13])
    assert (opened(tmp_path).find(KEYS[:3])[1] == ROWS[10:13]).all()


def test_other_encoders_and_widths_have_other_files(tmp_path):
    filled(tmp_path)
    assert not opened(tmp_path, encoder="abd").find(KEYS)[0].any()
    assert not opened(tmp_path, width=4).find(KEYS)[0].any()


def test_a_file_under_the_name_of_another_encoder_is_not_believed(tmp_path):
    path = filled(tmp_path).path
    path.rename(path.with_name(f"xyz-{WIDTH}.rows"))
    assert not opened(tmp_path, encoder="xyz").find(KEYS)[0].any()
    # not even with a header that fits: the checksums know theirs
    strange = opened(tmp_path, encoder="xyz")
    strange.path.write_bytes(strange._header + strange.path.read_bytes()[64:])
    assert not opened(tmp_path, encoder="xyz").find(KEYS)[0].any()


def flips() -> list[tuple[int, int]]:
    """Every bit of the header's start, of the first and last record, and many others."""
    rng = np.random.default_rng(2)
    places = [*range(0, 64, 7), *range(64, 64 + RECORD), *range(64 + 39 * RECORD, 64 + 40 * RECORD)]
    places += rng.integers(64, 64 + 40 * RECORD, 60).tolist()
    return [(place, int(rng.integers(8))) for place in places]


def test_a_flipped_bit_is_found_wherever_it_is_and_its_row_is_written_anew(tmp_path):
    path = filled(tmp_path).path
    sound = path.read_bytes()
    for place, bit in flips():
        damaged = bytearray(sound)
        damaged[place] ^= 1 << bit
        path.write_bytes(damaged)
        kept = opened(tmp_path)
        there, rows = kept.find(KEYS)
        assert (rows == ROWS[there]).all(), place
        assert there.sum() == (0 if place < 64 else 39), place
        lost = (~there).nonzero()[0]
        kept.add([KEYS[at] for at in lost], ROWS[lost])
        for again in (kept, opened(tmp_path)):
            assert again.find(KEYS)[0].all(), place
            assert wrong_rows(again) == 0, place


def test_without_its_checks_a_flipped_bit_would_be_given_out(tmp_path, monkeypatch):
    path = filled(tmp_path).path
    sound = path.read_bytes()
    monkeypatch.setattr(FileRows, "_sums", lambda self, words: np.zeros(len(words), np.uint64))
    monkeypatch.setattr("askwise.pool.row_file._whole", lambda halves: np.zeros(len(halves), np.uint64))
    wrong = 0
    for place, bit in flips():
        damaged = bytearray(sound)
        damaged[place] ^= 1 << bit
        path.write_bytes(damaged)
        wrong += wrong_rows(opened(tmp_path))
    assert wrong > 50


def test_two_flipped_signs_do_not_hide_each_other(tmp_path):
    path = filled(tmp_path).path
    sound = path.read_bytes()
    for one in range(WIDTH):
        for two in range(one):
            damaged = bytearray(sound)
            damaged[64 + 16 + 4 * one + 3] ^= 128
            damaged[64 + 16 + 4 * two + 3] ^= 128
            path.write_bytes(damaged)
            assert opened(tmp_path).find(KEYS)[0].sum() == 39


def test_exchanged_rows_and_zeros_are_found(tmp_path):
    path = filled(tmp_path).path
    sound = path.read_bytes()
    first, second = slice(64 + 16, 64 + RECORD), slice(64 + RECORD + 16, 64 + 2 * RECORD)
    damaged = bytearray(sound)
    damaged[first], damaged[second] = sound[second], sound[first]
    path.write_bytes(damaged)
    assert opened(tmp_path).find(KEYS)[0].sum() == 38
    path.write_bytes(sound[:64] + bytes(RECORD) + sound[64 + RECORD :])  # a page that never reached the disk
    kept = opened(tmp_path)
    assert kept.find([*KEYS, bytes(16)])[0].sum() == 39


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, *range(70, 64 + 4 * RECORD, 9), 64 + 39 * RECORD + 43])
def test_a_file_that_was_cut_keeps_what_is_whole(tmp_path, length):
    path = filled(tmp_path).path
    path.write_bytes(path.read_bytes()[:length])
    kept = opened(tmp_path)
    there, rows = kept.find(KEYS)
    assert there.sum() == max(0, (length - 64) // RECORD)
    assert (rows == ROWS[there]).all()
    lost = (~there).nonzero()[0]
    kept.add([KEYS[at] for at in lost], ROWS[lost])
    again = opened(tmp_path)
    assert again.find(KEYS)[0].all()
    assert wrong_rows(again) == 0
    assert path.stat().st_size == 64 + 40 * RECORD


def test_a_file_that_is_cut_while_it_is_open_is_opened_again(tmp_path):
    kept = filled(tmp_path)
    os.truncate(kept.path, 64 + 3 * RECORD)
    assert kept.find(KEYS)[0].sum() == 3
    kept.path.unlink()
    kept.add(KEYS[5:7], ROWS[5:7])
    assert opened(tmp_path).find(KEYS)[0].sum() == 2


@pytest.mark.parametrize("content", [b"", b"garbage", os.urandom(5000), b"\0" * 5000])
def test_a_file_of_something_else_is_replaced(tmp_path, content):
    opened(tmp_path).path.write_bytes(content)
    kept = opened(tmp_path)
    assert not kept.find(KEYS)[0].any()
    kept.add(KEYS, ROWS)
    assert opened(tmp_path).find(KEYS)[0].all()


def test_a_kill_in_the_middle_of_an_append_costs_only_that_append(tmp_path):
    filled(tmp_path, 10)
    for written in range(1, 3 * RECORD, 13):

        def die(kept=written) -> None:
            def write(self, records, *, fresh):
                with self.path.open("ab") as file:
                    file.write(records[:kept])
                os.kill(os.getpid(), signal.SIGKILL)

            FileRows._write = write
            opened(tmp_path).add([row_key(f"new-{kept}-{n}", "") for n in range(3)], ROWS[:3])

        assert in_child(die) == -signal.SIGKILL
        kept = opened(tmp_path)
        assert kept.find(KEYS)[0].sum() == 10
        name = row_key(f"after-{written}", "")
        kept.add([name], ROWS[:1])
        assert opened(tmp_path).find([name])[0].all()
        assert wrong_rows(opened(tmp_path)) == 0


def test_two_processes_append_to_one_file_and_read_each_other(tmp_path):
    kept = opened(tmp_path)

    def child(first: int) -> int:
        pid = os.fork()
        if pid:
            return pid
        try:
            for at in range(first, 40, 2):
                kept.add([KEYS[at]], ROWS[at : at + 1])
        finally:
            os._exit(0)

    for pid in [child(0), child(1), child(0)]:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert kept.path.stat().st_size == 64 + 40 * RECORD  # none is there twice
    assert kept.find(KEYS)[0].all()
    assert wrong_rows(kept) == 0


def test_a_disk_that_is_full_costs_a_warning_and_no_row(tmp_path, monkeypatch):
    kept = filled(tmp_path, 10)

    def full(self, records, *, fresh):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FileRows, "_write", full)
    with pytest.warns(SlowPathWarning, match=r"features are not kept.*takes no more \(No space left"):
        kept.add(KEYS[10:], ROWS[10:])
    kept.add(KEYS[10:], ROWS[10:])  # said once
    assert kept.find(KEYS)[0].sum() == 10


def test_what_is_forgotten_is_gone_for_good(tmp_path):
    kept = filled(tmp_path)
    kept.forget()
    assert not kept.find(KEYS)[0].any()
    assert not opened(tmp_path).find(KEYS)[0].any()


def test_it_travels_to_another_process(tmp_path):
    again = pickle.loads(pickle.dumps(filled(tmp_path)))  # noqa: S301 - our own bytes
    assert again.find(KEYS)[0].all()


def test_a_folder_that_cannot_be_used_is_refused_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"the feature cache .*file is a file; give a folder"):
        opened(tmp_path / "file")
    with pytest.raises(InputError, match=r"the feature cache .* cannot be made: Not a directory"):
        opened(tmp_path / "file" / "inside")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    with pytest.raises(InputError, match="is not writable; make it so, or give another folder"):
        opened(tmp_path / "folder")


def calls(work):
    """How many functions are called while it works, Python's and C's."""
    seen = [0]

    def count(frame, event, _):
        seen[0] += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return seen[0]


def test_rows_are_read_and_verified_many_at_a_time(tmp_path):
    """Of a row by itself only its key is looked up: that is two calls, a step of the loop and a lookup."""
    count = 5_000
    keys = [row_key(str(number), "") for number in range(count)]
    rows = np.zeros((count, WIDTH), np.float32)
    rows[:, 0] = np.arange(count)
    FileRows(tmp_path, encoder="abc", width=WIDTH).add(keys, rows)
    kept, found = FileRows(tmp_path, encoder="abc", width=WIDTH), []
    assert calls(lambda: found.extend(kept.find(keys))) < 2.5 * count
    assert found[0].all()
    assert (found[1][:, 0] == rows[:, 0]).all()
    one_by_one = calls(lambda: [kept.find([key]) for key in keys[:100]])
    assert one_by_one > 10 * 100  # the control


def test_a_process_forked_while_a_thread_holds_the_lock_does_not_wait_for_itself(tmp_path):
    kept = filled(tmp_path)
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with _locked(kept.path.parent):
            inside.set()
            leave.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        opened(tmp_path).add([row_key("new", "1")], np.ones((1, WIDTH), np.float32))
        os._exit(0)
    leave.set()
    holder.join()
    end = time.monotonic() + 120
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < end:
        time.sleep(0.02)
    if not ended[0]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended == (child, 0)
