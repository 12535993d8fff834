"""One trainer for each store."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from forked import forked

from askwise.errors import StoreError
from askwise.store.facts import Item
from askwise.store.lock import Lock, trainer
from askwise.store.sql import SqlStore

# Python 3.12 warns of threads; the children here start none and end by _exit
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

HOLD = """
import sys, time
from askwise.store.sql import SqlStore
store = SqlStore(sys.argv[1])
os.write(1, b"held\n")
time.sleep(600)
"""


def holding(path, *before):
    process = subprocess.Popen(
        [*before, sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    line = process.stdout.readline()
    return process, line


def ended(process):
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()


@pytest.fixture
def other(tmp_path):
    def hold():
        store = SqlStore(tmp_path / "run.db")
        os.write(1, b"held\n")
        time.sleep(600)
        store.close()

    process = forked(hold)
    assert process.stdout.readline() == "held\n"
    yield process
    process.end()


def test_a_second_process_is_refused_by_pid_and_host(tmp_path, other):
    with pytest.raises(StoreError, match=rf"in use by process {other.pid} on {socket.gethostname()}") as said:
        SqlStore(tmp_path / "run.db")
    assert "delete" not in str(said.value)  # the lock is live
    assert trainer(tmp_path / "run.db").pid == other.pid


def test_a_symbolic_link_to_the_store_or_its_folder_is_no_way_around_the_lock(tmp_path, other):
    (tmp_path / "link.db").symlink_to(tmp_path / "run.db")
    (tmp_path / "folder").symlink_to(tmp_path)
    for path in (tmp_path / "link.db", tmp_path / "folder" / "run.db", tmp_path / "folder" / "link.db"):
        with pytest.raises(StoreError, match=f"in use by process {other.pid}"):
            SqlStore(path)


def test_a_hard_link_to_the_store_is_refused_by_both_names(tmp_path, other):
    os.link(tmp_path / "run.db", tmp_path / "second.db")
    for access in ("train", "answer", "read"):
        with pytest.raises(StoreError, match=r"has 2 names .hard links."):
            SqlStore(tmp_path / "second.db", access=access)


def test_another_pid_namespace_is_no_way_around_the_lock(tmp_path):
    process, line = holding(tmp_path / "run.db", "unshare", "--pid", "--fork", "--kill-child")
    try:
        if line != "held\n":
            pytest.skip(f"no PID namespace can be made here: {process.stderr.readline().strip()}")
        with pytest.raises(StoreError, match="in use by process 1 on"):
            SqlStore(tmp_path / "run.db")
    finally:
        ended(process)


def test_a_reader_and_an_answerer_are_welcome_while_another_trains(tmp_path, other):
    for access in ("read", "answer"):
        store = SqlStore(tmp_path / "run.db", access=access)
        assert store.revision == 0
        store.close()


def test_the_lock_of_a_killed_process_is_free(tmp_path, other):
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    assert trainer(tmp_path / "run.db") is None
    store = SqlStore(tmp_path / "run.db")
    assert store.append([Item(id="a")]) == 1
    store.close()


def test_a_second_loop_in_the_same_process_is_refused_until_the_first_is_closed(tmp_path):
    first = SqlStore(tmp_path / "run.db")
    with pytest.raises(StoreError, match=rf"this process .pid {os.getpid()}, .*: learner.close\(\)"):
        SqlStore(tmp_path / "run.db")
    first.close()
    SqlStore(tmp_path / "run.db").close()


def test_what_a_lock_file_says_does_not_matter_if_nobody_holds_it(tmp_path):
    (tmp_path / "run.db.lock").write_text('{"pid": 1, "host": "elsewhere"}')
    Lock(tmp_path / "run.db", name="run.db").release()


def test_a_forked_child_may_not_write_with_its_parents_store_and_does_not_keep_its_lock(tmp_path):
    store = SqlStore(tmp_path / "run.db")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            store.append([Item(id="a")])
        except StoreError:
            os.write(writer, b"refused")
        time.sleep(600)
        os._exit(0)
    try:
        assert os.read(reader, 7) == b"refused"
        store.close()
        SqlStore(tmp_path / "run.db").close()  # while the child lives
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reader)
        os.close(writer)


def test_a_child_that_ends_does_not_free_its_parents_lock(tmp_path, other):
    store = SqlStore(tmp_path / "own.db")
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    process, line = holding(tmp_path / "own.db")
    ended(process)
    assert line == ""
    store.close()
