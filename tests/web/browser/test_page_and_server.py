"""The page and the whole of `askwise label`: both processes are killed, and every answer is stored once."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from contract_server import ContractServer
from descendants import descendants
from small_page import truth, write_project
from test_page_keys import settled

from askwise.project import Project
from askwise.store import open_store
from askwise.store.facts import Answer

pytestmark = pytest.mark.slow
COMMAND = [sys.executable, "-c", "from askwise.cli import main; main()", "label"]


class Running:
    """`askwise label` in a process of its own."""

    def __init__(self, project: Project, port: int) -> None:
        command = [*COMMAND, str(project.folder), "--no-browser", "--port", str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.search(r"http://\S+", self.process.stdout.readline())
        assert found, "the link is printed first"
        self.url = found[0]

    def kill_trainer(self) -> None:
        beside = [pid for pid in descendants(self.process.pid) if "askwise.web.trainer" in command(pid)]
        assert len(beside) == 1
        os.kill(beside[0], signal.SIGKILL)

    def kill(self) -> None:
        """The server dies at once; the processes beside it notice."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def label(project: Project, port: int) -> Iterator[Running]:
    running = Running(project, port)
    try:
        yield running
    finally:
        running.kill()


def command(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def free_port() -> int:
    with ContractServer() as server:
        return server.port


def answer(page: Any, count: int) -> list[str]:
    """Answers so many items with one key each, and returns their names in order."""
    names = []
    for _ in range(count):
        page.wait_for_selector("#stage img")
        name = page.locator("#caption").text_content()
        page.keyboard.press("1" if truth(Path(name).name) == "dark" else "2")
        page.wait_for_function("name => document.getElementById('caption').textContent !== name", arg=name)
        names.append(name)
    return names


def stored(project: Project) -> list[Answer]:
    store = open_store(project.store, access="read")
    try:
        return store.facts(Answer)
    finally:
        store.close()


def test_every_answer_is_stored_once_though_server_and_trainer_are_killed(tmp_path: Path, visit: Any) -> None:
    project = write_project(tmp_path, pictures=160)
    plan = project.plan.read_text().replace("budget = 60", "budget = 150")
    project.plan.write_text(plan)
    port = free_port()
    with label(project, port) as running:
        page = visit(running)
        page.set_default_timeout(60_000)
        named = answer(page, 30)
        settled(page)
        facts = stored(project)
        assert [Path(name).name for name in named] == [Path(fact.id).name for fact in facts]
        for name in reversed(named[-10:]):
            page.keyboard.press("Backspace")
            page.wait_for_function(
                "name => document.getElementById('caption').textContent === name", arg=name
            )
        settled(page)
        assert [fact.verdict for fact in stored(project)[30:]] == ["retract"] * 10
        assert answer(page, 10) == named[-10:]
        settled(page)

        running.kill_trainer()
        answer(page, 4)
        settled(page)
        page.wait_for_function("() => !document.getElementById('panel').textContent.includes('starts again')")
        answer(page, 4)

        page.click("text=Load the next 60")
        page.wait_for_selector("text=60 questions are loaded.")
        settled(page)
        before = len(stored(project))
        running.kill()
        away = answer(page, 50)
        page.wait_for_selector("text=Offline, 50 answers wait")
    with label(project, port) as running:
        again = visit(running, context=page.context)  # the new link, in the same browser
        settled(again)
        facts = stored(project)
        assert len(facts) == before + 50
        assert [Path(fact.id).name for fact in facts[before:]] == [Path(name).name for name in away]
        assert len({fact.key for fact in facts}) == len(facts)
        again.close()
