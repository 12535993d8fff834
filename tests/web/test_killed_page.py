"""kill -9 of the server and of the processes beside it: no acknowledged answer is lost, none is doubled."""

import random
import time

import pytest
from descendants import gone
from killed_page import Person, Server, kill, stored
from small_page import write_project


def check(folder, person):
    found = stored(folder)
    assert {key: [revision] for key, revision in person.acknowledged.items()} == {
        key: found.get(key) for key in person.acknowledged
    }
    assert all(len(revisions) == 1 for revisions in found.values())


def test_a_killed_trainer_comes_back_and_a_killed_server_takes_it_along(project):
    server = Server(project.folder)
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


@pytest.mark.slow
def test_two_hundred_kills_lose_nothing_and_double_nothing(tmp_path):
    rng, kills = random.Random(1), 0
    project = write_project(tmp_path / "many", pictures=1500)
    text = project.plan.read_text()
    project.plan.write_text(text.replace("budget = 60", "budget = 1400"))
    server = Server(project.folder)
    person = Person(server, seed=1)
    try:
        while kills < 200:
            wanted = person.presses + rng.randint(0, 4)
            person.until(lambda wanted=wanted: person.presses >= wanted)
            time.sleep(rng.random() * 0.3)
            kills += 1
            if rng.random() < 0.5:
                kill(server.beside("trainer"))
            else:
                left = server.kill()
                assert gone(left)
    finally:
        server.stop()
    check(project.folder, person)
    assert len(person.acknowledged) > 200
