"""One writer for each store."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from askwise.errors import StoreError
from askwise.store.facts import Item
from askwise.store.lock import Lock
from askwise.store.sql import SqlStore

# Python 3.12 warns of threads; the children here start none and end by _exit
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

HOLD = """
import sys, time
from askwise.store.sql import SqlStore
store = SqlStore(sys.argv[1])
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def other(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "run.db"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_second_process_is_refused_by_pid_and_host(tmp_path, other):
    with pytest.raises(StoreError, match=rf"in use by process {other.pid} on {socket.gethostname()}"):
        SqlStore(tmp_path / "run.db")


def test_a_reader_is_welcome_while_another_writes(tmp_path, other):
    reader = SqlStore(tmp_path / "run.db", read_only=True)
    assert reader.revision == 0
    with pytest.raises(StoreError, match="reading only"):
        reader.append([Item(id="a")])
    reader.close()


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path, other):
    os.kill(other.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:  # until the kernel is done with it; a zombie counts as dead
        try:
            store = SqlStore(tmp_path / "run.db")
            break
        except StoreError:
            time.sleep(0.01)
    assert store.append([Item(id="a")]) == 1
    store.close()


def test_a_second_loop_in_the_same_process_is_refused_until_the_first_is_closed(tmp_path):
    first = SqlStore(tmp_path / "run.db")
    with pytest.raises(StoreError, match=f"this process .pid {os.getpid()}"):
        SqlStore(tmp_path / "run.db")
    first.close()
    SqlStore(tmp_path / "run.db").close()


def _forged(path, **changes):
    lock = Lock(path)
    lock.path.write_text(json.dumps(lock.holder.__dict__ | changes))
    return lock.path


def test_a_later_process_with_the_same_number_is_not_taken_for_the_holder(tmp_path):
    _forged(tmp_path / "run.db", start="1")
    Lock(tmp_path / "run.db").release()


def test_a_lock_from_before_a_reboot_is_stale(tmp_path):
    _forged(tmp_path / "run.db", boot="another")
    Lock(tmp_path / "run.db").release()


def test_a_lock_of_another_host_is_respected_and_the_way_out_is_named(tmp_path):
    path = _forged(tmp_path / "run.db", host="elsewhere", pid=1)
    with pytest.raises(StoreError, match=f"pid 1, host elsewhere.*delete {path}"):
        Lock(tmp_path / "run.db")


def test_a_lock_file_cut_off_by_a_power_cut_is_stale(tmp_path):
    (tmp_path / "run.db.lock").write_text('{"pid": 1')
    Lock(tmp_path / "run.db").release()


def test_a_forked_child_may_not_write_with_its_parents_store(tmp_path):
    store = SqlStore(tmp_path / "run.db")
    child = os.fork()
    if child == 0:
        try:
            store.append([Item(id="a")])
        except StoreError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    store.close()
