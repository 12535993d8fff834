"""A store on a PostgreSQL server that is lost, and what such a store refuses."""

import os
import random
import signal
import sys
import time

import postgres_server
import pytest

from askwise.errors import InputError, StoreError
from askwise.store import open_store
from askwise.store.facts import Answer, Item, Question
from askwise.store.sql import SqlStore

psycopg = pytest.importorskip("psycopg")

# Python 3.12 warns of threads; the children here start none and end by _exit
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def crashes(server, folder, count: int) -> tuple[int, int, int]:
    """Answers acknowledged, refused while the server was lost, and stored after every one was replayed."""
    place = server.url(folder / "models")
    store = SqlStore(place)
    store.append([Question(id=f"item-{number}", round=0, rank=number) for number in range(count * 20)])
    store.close()
    chance = random.Random(0)
    told: list[Answer] = []
    refused = 0
    for turn in range(count):
        store = SqlStore(place, access="answer")
        some = [
            Answer(id=f"item-{number}", key="page", verdict="label", label=0, question=f"q{number + 2}")
            for number in range(turn * 20, turn * 20 + 20)
        ]
        killer = os.fork()
        if killer == 0:
            time.sleep(chance.uniform(0, 0.05))
            os.kill(server._process.pid, signal.SIGQUIT)
            os._exit(0)
        for one in some:
            told.append(one)
            try:
                store.answer([one])
            except StoreError:
                refused += 1
        os.waitpid(killer, 0)
        server._process.wait()
        server.start()
        for one in some:  # as a page does when it hears no reply
            assert store.answer([one])[0].label == 0
        store.close()
    store = SqlStore(place, access="read")
    stored = [(answer.id, answer.key) for answer in store.facts(Answer)]
    store.close()
    assert sorted(stored) == sorted((one.id, one.key) for one in told)
    return len(told) - refused, refused, len(stored)


@pytest.fixture
def own_server(postgres):
    with postgres_server.server() as running:
        yield running


def test_a_server_lost_in_the_middle_of_answers_has_each_of_them_once_after_its_replay(own_server, tmp_path):
    acknowledged, refused, stored = crashes(own_server, tmp_path, 2)
    assert refused > 0
    assert acknowledged + refused == stored == 40


@pytest.mark.slow
def test_a_server_lost_fifty_times_has_every_answer_once(own_server, tmp_path):
    acknowledged, refused, stored = crashes(own_server, tmp_path, 50)
    sys.stdout.write(
        f"\nserver killed 50 times: {acknowledged} answers acknowledged, {refused} refused, "
        f"{stored} stored once after their replay\n"
    )


def test_what_was_acknowledged_is_on_the_servers_disk_whatever_its_settings_say(postgres, tmp_path):
    store = open_store(postgres.url(tmp_path / "models"))
    with store._reading() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
    store.close()


def test_a_worker_does_not_keep_its_parents_role_and_does_not_end_it(postgres, tmp_path):
    place = postgres.url(tmp_path / "models")
    store = SqlStore(place)
    store.append([Question(id="a", round=0, rank=0)])
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, b"ready")
        time.sleep(60)
        os._exit(0)
    try:
        assert os.read(reader, 5) == b"ready"
        with pytest.raises(StoreError, match=f"in use by process {os.getpid()} on"):
            SqlStore(place)
        store.append([Question(id="b", round=0, rank=1)])
        store.close()
        SqlStore(place).close()  # while the child lives
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reader)
        os.close(writer)


def test_what_cannot_be_a_server_is_refused_in_one_line(postgres, tmp_path):
    whole = postgres.url(tmp_path / "models")
    with pytest.raises(InputError, match="needs a folder for models; add it"):
        SqlStore(whole.partition("&folder=")[0])
    with pytest.raises(InputError, match="not mysql://"):
        SqlStore("mysql://localhost/run")
    with pytest.raises(StoreError, match="cannot be used") as said:
        SqlStore(f"postgresql://askwise:secret@/postgres?host=/nowhere&folder={tmp_path}")
    assert "secret" not in str(said.value)
    assert len(str(said.value).splitlines()) == 1


def test_a_server_with_tables_of_another_program_is_refused(postgres, tmp_path):
    place = postgres.url(tmp_path / "models")
    schema = place.partition("search_path%3D")[2].partition("&")[0]
    with psycopg.connect(postgres._bare(), autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {schema}.recipes (name text)")
    with pytest.raises(StoreError, match="database of another program"):
        SqlStore(place)


def test_an_id_that_postgresql_cannot_hold_is_refused(postgres, tmp_path):
    store = SqlStore(postgres.url(tmp_path / "models"))
    with pytest.raises(StoreError):
        store.append([Item(id="a\x00b")])
    assert store.count() == 0
    store.close()
