"""A server in its own process, a person who keeps answering, and kills of whatever runs."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import preloaded
from descendants import descendants
from small_page import truth

from askwise.store import open_store
from askwise.store.facts import Answer

COMMAND = "from askwise.cli import main; main()"
_PATIENCE = 300.0  # seconds after which something hangs


class Server:
    """`askwise label` on a free port; begun again it has the same link."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.folder = folder
        self.token = ""
        self.start()

    def start(self) -> None:
        words = [str(self.folder), "--no-browser", "--port", str(self.port)]
        self.process = self._begun(words)
        line = self.process.stdout.readline()
        assert "#" in line, line
        self.token = line.strip().rpartition("#")[2]

    def _begun(self, words: list[str]) -> Any:
        command = [sys.executable, "-u", "-c", COMMAND, "label", *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def call(self, path, body=None):
        """A reply; errors of the line are the caller's."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self.token}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as reply:  # noqa: S310
            return json.load(reply)

    def beside(self, module: str) -> set[int]:
        """The processes of a module that belong to the server."""
        return {pid for pid in descendants(self.process.pid) if self._is(pid, module)}

    def _is(self, pid: int, module: str) -> bool:
        return f"askwise.web.{module}" in _command(pid)

    def kill(self) -> set[int]:
        """Kill the server; the processes that were beside it."""
        left = self.beside("trainer") | self.beside("encoder")
        self.process.kill()
        self._ended()
        return left

    def stop(self) -> None:
        """End it as Ctrl+C does."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(120)
        finally:
            self.process.kill()
            self._ended()

    def _ended(self) -> None:
        self.process.wait()
        self.process.stdout.close()


class Preloaded(Server):
    """The same, begun by a fork of this process."""

    def _begun(self, words: list[str]) -> Any:
        return preloaded.labelling(*words)

    def _is(self, pid: int, module: str) -> bool:
        return preloaded.is_beside(pid, module)


class Person:
    """Answers one question after the other; an answer without a reply is sent again until it has one."""

    def __init__(self, server: Server, seed: int) -> None:
        self._server, self._rng = server, random.Random(seed)
        self.acknowledged: dict[str, int] = {}
        self.presses = 0

    def until(self, done, *, on_press=lambda: None) -> None:
        """Answer until `done()`."""
        end = time.monotonic() + _PATIENCE
        while not done():
            assert time.monotonic() < end, "nothing moves any more"
            found = self.sent("/api/questions?n=4")
            for one in found["questions"][:2]:
                self.presses += 1
                body = {
                    "key": f"press-{self.presses:06d}",
                    "question": one["question"],
                    "item": one["item"],
                    "verdict": "label",
                    "value": truth(one["name"]),
                }
                if self._rng.random() < 0.3:
                    body |= {"verdict": self._rng.choice(["skip", "unclear"]), "value": None}
                on_press()
                reply = self.sent("/api/answers", [body])
                assert not reply["refused"]
                if self._rng.random() < 0.2:  # the reply was lost on the way
                    assert self.sent("/api/answers", [body]) == reply
                self.acknowledged[body["key"]] = reply["answers"][0]["revision"]
                end = time.monotonic() + _PATIENCE
            if not found["questions"]:
                time.sleep(0.1)

    def sent(self, path, body=None):
        """A reply, asked for until there is one; a server that is dead is begun again."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._server.call(path, body)
            except (OSError, urllib.error.URLError, ValueError):
                assert time.monotonic() < end, "the server does not come back"
                if self._server.process.poll() is not None:
                    self._server.start()
                time.sleep(0.05)


def stored(folder: Path) -> dict[str, list[int]]:
    """The revisions of every key in the store."""
    store = open_store(folder / "store.db", access="read")
    try:
        found: dict[str, list[int]] = {}
        for answer in store.facts(Answer):
            found.setdefault(answer.key, []).append(answer.revision)
        return found
    finally:
        store.close()


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def kill(pids: set[int]) -> None:
    """What no process can do anything about."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
