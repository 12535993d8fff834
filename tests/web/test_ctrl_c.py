"""Ctrl+C in a terminal, where it reaches the processes beside the server, too: the last model is kept."""

import fcntl
import os
import pty
import signal
import socket
import subprocess
import sys
import termios
import time
from contextlib import suppress
from threading import Thread

import pytest
from descendants import gone
from killed_page import COMMAND, Person, Server, stored

from askwise.cli import call
from askwise.runs.material import read_plan
from askwise.runs.trained import last_model
from askwise.store import open_store
from askwise.store.facts import Round
from askwise.web.child import ELSEWHERE

FATAL = "Fatal Python error"
_ANSWERS = 14


class Terminal:
    """A command in a terminal of its own: what it prints, and keys that are pressed there."""

    def __init__(self, *words: str) -> None:
        self._main, side = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-u", *words],
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
            preexec_fn=_in_front,
        )
        os.close(side)
        self.printed = ""
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def press(self, keys: bytes) -> None:
        """As a person would."""
        os.write(self._main, keys)

    def code(self, seconds: float = 60) -> int:
        """The exit code, when it has come to its end and said everything."""
        found = self.process.wait(seconds)
        self._reader.join(10)
        return found

    def close(self) -> None:
        """End it, if it still runs."""
        self.process.kill()
        self.process.wait()
        self._reader.join(10)
        os.close(self._main)

    def _read(self) -> None:
        with suppress(OSError):  # the other side has closed
            while some := os.read(self._main, 4096):
                self.printed += some.decode(errors="replace")


class InTerminal(Server):
    """`askwise label` in a terminal; its link is among what it prints."""

    def start(self) -> None:
        words = ["label", str(self.folder), "--no-browser", "--port", str(self.port)]
        self.terminal = Terminal("-c", COMMAND, *words)
        self.process = self.terminal.process
        wait_for(lambda: "Stop with" in self.terminal.printed)
        link = next(line for line in self.terminal.printed.splitlines() if "/#" in line)
        self.token = link.strip().rpartition("#")[2]


def _in_front() -> None:
    """Make the new terminal the one whose Ctrl+C this process and its children hear."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it, and their children


def wait_for(done, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)


def last_round(folder) -> Round:
    store = open_store(folder / "store.db", access="read")
    try:
        return store.last(Round)
    finally:
        store.close()


def predicting(project) -> Round:
    """The round whose model `askwise predict` takes."""
    store = open_store(project.place, access="read")
    try:
        return last_model(read_plan(project.plan), store, folder=project.folder).round
    finally:
        store.close()


@pytest.fixture
def server(project):
    found = InTerminal(project.folder)
    yield found
    found.terminal.close()


def test_after_ctrl_c_the_newest_model_is_the_one_that_predicts(project, server, capsys):
    person = Person(server, seed=0)
    person.until(lambda: len(person.acknowledged) >= _ANSWERS)
    wait_for(lambda: (now := server.call("/api/status"))["given"] == now["seen"] >= _ANSWERS)
    beside = server.beside("trainer")
    before = last_round(project.folder)
    assert not before.checkpoint  # control: but for its end, nothing keeps this model
    assert predicting(project).number < before.number
    server.terminal.press(b"\x03")
    assert server.terminal.code() == 0
    assert FATAL not in server.terminal.printed
    assert "Traceback" not in server.terminal.printed
    assert gone(beside)
    last = last_round(project.folder)
    assert last == before  # it was kept as it was in memory: nothing was trained at the end
    assert (last.number, last.weights) == (predicting(project).number, predicting(project).weights)
    assert call(["predict", str(project.folder)]) == 0
    assert f"by the model of round {last.number}" in capsys.readouterr().out


def test_a_second_ctrl_c_ends_at_once_and_says_what_is_kept(project, server):
    person = Person(server, seed=0)
    person.until(lambda: len(person.acknowledged) >= 2)
    wait_for(lambda: server.call("/api/status")["trainer"] == "running")
    beside = server.beside("trainer")
    for pid in beside:
        os.kill(pid, signal.SIGSTOP)  # it cannot put its work away: the end would be waited for
    server.terminal.press(b"\x03")
    wait_for(lambda: not listens(server.port))
    server.terminal.press(b"\x03")
    assert server.terminal.code() == 0
    assert "Traceback" not in server.terminal.printed
    said = server.terminal.printed.replace("^C", "").strip().splitlines()[-1]
    assert said == "Ended at once: every answer is on the disk; the last model may not be saved."
    assert gone(beside)
    assert set(person.acknowledged) <= set(stored(project.folder))


def listens(port: int) -> bool:
    """Whether anybody takes requests there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_second_page_on_the_same_project_ends_its_trainer_without_a_word(project, server):
    wait_for(lambda: server.beside("trainer"))
    wait_for(lambda: server.call("/api/status")["trainer"] == "running")
    other = InTerminal(project.folder)
    try:
        seen = set()
        wait_for(lambda: seen.update(other.beside("trainer")) or len(seen) > 1)  # it was refused, and is back
        other.terminal.press(b"\x03")
        assert other.terminal.code() == 0
        assert FATAL not in other.terminal.printed
    finally:
        other.terminal.close()


@pytest.mark.parametrize(("error", "code"), [("InUseError", ELSEWHERE), ("StoreError", 2)])
def test_a_process_that_is_refused_says_so_by_its_exit_code(error, code):
    begin = f"from askwise import errors; from askwise.web.child import main; work = errors.{error}"
    refuse = "def refuse(*_):\n    raise work('it cannot be had')\nmain(refuse)"
    command = [sys.executable, "-c", f"{begin}\n{refuse}", "folder"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.wait(30) == code  # its pipe is still open, and a thread waits at it
        assert FATAL not in process.stderr.read().decode()
    finally:
        process.kill()
        process.communicate()


def test_control_a_thread_that_holds_standard_input_is_fatal_and_seen(tmp_path):
    script = tmp_path / "holds.py"
    script.write_text(
        "import sys, threading, time\n"
        "threading.Thread(target=lambda: list(sys.stdin.buffer), daemon=True).start()\n"
        "time.sleep(0.5)\n"
    )
    terminal = Terminal(str(script))
    try:
        assert terminal.code() != 0
        assert FATAL in terminal.printed
    finally:
        terminal.close()
