"""kill -9 of the server and of the processes beside it: no acknowledged answer is lost, none is doubled."""

import random
import time
from collections import Counter

import pytest
from descendants import gone
from killed_page import Person, Preloaded, Server, kill, stored
from small_page import write_project

ENCODER = """
import time
from torch import nn

class Means(nn.Module):
    size, width, licence = 8, 12, "CC0"
    def forward(self, x):
        time.sleep(0.3)  # of 32 pictures: it is still at work when it is killed
        return nn.functional.adaptive_avg_pool2d(x, 2).flatten(1)

def make():
    return Means()
"""


def wrong(found, acknowledged):
    """How many acknowledged answers are not stored as they were acknowledged, and how many twice."""
    lost = sum(revision not in found.get(key, []) for key, revision in acknowledged.items())
    return lost, sum(len(revisions) - 1 for revisions in found.values())


def check(folder, person):
    assert wrong(stored(folder), person.acknowledged) == (0, 0)


def test_control_an_answer_that_is_lost_or_doubled_is_found():
    acknowledged = {"a": 3, "b": 4}
    assert wrong({"a": [3], "b": [4], "c": [5]}, acknowledged) == (0, 0)  # c had no reply yet
    assert wrong({"a": [3]}, acknowledged) == (1, 0)
    assert wrong({"a": [3], "b": [5]}, acknowledged) == (1, 0)
    assert wrong({"a": [3], "b": [4, 5]}, acknowledged) == (0, 1)


@pytest.mark.parametrize("kind", [Preloaded, pytest.param(Server, marks=pytest.mark.slow)])
def test_a_killed_trainer_comes_back_and_a_killed_server_takes_it_along(project, kind):
    server = kind(project.folder)
    person = Person(server, seed=0)
    try:
        person.until(lambda: server.call("/api/status")["seen"] >= 4)
        first = server.beside("trainer")
        assert len(first) == 1
        kill(first)
        person.until(lambda: server.beside("trainer") - first)
        left = server.kill()
        assert gone(left)  # by the end of their pipe alone
        person.until(lambda: len(person.acknowledged) >= 20)
        left = server.beside("trainer")
    finally:
        server.stop()
    assert gone(left)
    assert person.presses >= 20
    check(project.folder, person)


def test_the_trainer_of_a_server_begun_by_its_command_ends_with_it(project):
    server = Server(project.folder)
    try:
        Person(server, seed=0).until(lambda: server.beside("trainer"))
        left = server.kill()
        assert len(left) == 1
        assert gone(left)
    finally:
        server.stop()


def encoded_project(folder, pictures):
    """A project with an encoder that takes its time."""
    project = write_project(folder, pictures=pictures)
    (project.folder / "slow_means.py").write_text(ENCODER)
    text = project.plan.read_text().replace("budget = 60", f"budget = {pictures - 100}")
    project.plan.write_text(f'encoder = "slow_means:make"\n{text}')
    project.store.unlink()
    return project


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_two_hundred_kills_lose_nothing_and_double_nothing(tmp_path, block, record_property):
    rng, kills = random.Random(block), Counter()
    project = encoded_project(tmp_path / "many", 600)
    server = Preloaded(project.folder)
    person = Person(server, seed=block)
    try:
        person.until(lambda: server.beside("encoder"))
        while kills.total() < 20:
            wanted = person.presses + rng.randint(0, 4)
            person.until(lambda wanted=wanted: person.presses >= wanted)
            time.sleep(rng.random() * 0.3)
            what = rng.choice(["server", "trainer", "encoder"])
            kills[what] += 1
            if what == "server":
                assert gone(server.kill())
            else:
                beside = server.beside(what)
                person.until(lambda beside=beside, what=what: beside or server.beside(what))
                kill(beside or server.beside(what))
        person.until(lambda: person.sent("/api/status")["trainer"] == "running")
    finally:
        server.stop()
    lost, doubled = wrong(stored(project.folder), person.acknowledged)
    for what, count in kills.items():
        record_property(f"kills of the {what}", count)
    record_property("answers acknowledged", len(person.acknowledged))
    record_property("lost", lost)
    record_property("doubled", doubled)
    assert (lost, doubled) == (0, 0)
    assert len(person.acknowledged) > 20
