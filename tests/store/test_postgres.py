"""A store on a PostgreSQL server that is lost, and what such a store refuses."""

import os
import random
import signal
import time
from contextlib import suppress

import postgres_server
import pytest
from descendants import descendants
from sqlalchemy import event

from askwise.errors import InputError, StoreError
from askwise.store import open_store
from askwise.store.facts import Answer, Item, Question
from askwise.store.sql import SqlStore, connecting

psycopg = pytest.importorskip("psycopg")

# Python 3.12 warns of threads; the children here start none and end by _exit
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def kill_all(server) -> None:
    """Kill -9 every process of the server, the first one first, so that none cleans up after another."""
    first = server._process.pid
    others = descendants(first)
    for pid in (first, *others):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def crashes(server, folder, count: int) -> dict[str, int]:
    """Answers told while a server is killed at some moment, and what became of them."""
    place = server.url(folder / "models")
    store = SqlStore(place)
    store.append([Question(id=f"item-{number}", round=0, rank=number) for number in range(count * 20)])
    with store._reading() as connection:
        connection.exec_driver_sql("CHECKPOINT")  # the questions stay, also in the control
    store.close()
    chance = random.Random(0)
    found = {"server killed": 0, "acknowledged": 0, "refused": 0, "lost": 0, "stored once by a replay": 0}
    told: list[Answer] = []
    for turn in range(count):
        store = SqlStore(place, access="answer")
        some = [
            Answer(id=f"item-{number}", key="page", verdict="label", label=0, question=f"q{number + 2}")
            for number in range(turn * 20, turn * 20 + 20)
        ]
        reader, writer = os.pipe()
        killer = os.fork()
        if killer == 0:  # after some acknowledgements, in the middle of what comes then
            os.read(reader, 1)
            time.sleep(chance.uniform(0, 0.01))
            kill_all(server)
            os._exit(0)
        when, heard = chance.randrange(12), []
        for number, one in enumerate(some):
            if number == when:
                os.write(writer, b".")
            try:
                heard.append(store.answer([one])[0].id)
            except StoreError:
                found["refused"] += 1
        os.waitpid(killer, 0)
        os.close(reader)
        os.close(writer)
        server._process.wait()
        server.start()
        kept = {answer.id for answer in store.facts(Answer)}
        found["server killed"] += 1
        found["acknowledged"] += len(heard)
        found["lost"] += sum(name not in kept for name in heard)
        for one in some:  # as a page does when it hears no reply
            assert store.answer([one])[0].label == 0
        store.close()
        told += some
    store = SqlStore(place, access="read")
    stored = [(answer.id, answer.key) for answer in store.facts(Answer)]
    store.close()
    found["stored once by a replay"] = len(set(stored)) - found["acknowledged"]
    found["doubled"] = len(stored) - len(set(stored))
    found["lost"] += len({(one.id, one.key) for one in told} - set(stored))
    return found


@pytest.fixture
def own_server(postgres):
    with postgres_server.server("-c", "wal_writer_delay=10s") as running:
        yield running


def test_a_server_lost_in_the_middle_of_answers_has_each_of_them_once_after_its_replay(own_server, tmp_path):
    found = crashes(own_server, tmp_path, 2)
    assert found["refused"] > 0
    assert (found["lost"], found["doubled"]) == (0, 0)


def test_control_a_server_that_does_not_wait_for_its_disk_is_caught_losing_answers(
    own_server, tmp_path, monkeypatch
):
    careful = connecting.postgres_engine

    def careless(url):
        engine = careful(url)

        @event.listens_for(engine, "connect")
        def _settings(connection, _record):
            connection.execute("SET synchronous_commit TO off")
            connection.commit()

        return engine

    monkeypatch.setattr(connecting, "postgres_engine", careless)
    assert crashes(own_server, tmp_path, 3)["lost"] > 0


@pytest.mark.slow
def test_a_server_lost_fifty_times_has_every_answer_once(own_server, tmp_path, record_property):
    found = crashes(own_server, tmp_path, 50)
    for what, number in found.items():
        record_property(what, number)
    assert (found["lost"], found["doubled"]) == (0, 0)


def test_what_was_acknowledged_is_on_the_servers_disk_whatever_its_settings_say(postgres, tmp_path):
    store = open_store(postgres.url(tmp_path / "models"))
    with store._reading() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        assert connection.exec_driver_sql("SHOW jit").scalar() == "off"
    store.close()


def test_a_worker_does_not_keep_its_parents_role_and_does_not_end_it(postgres, tmp_path):
    place = postgres.url(tmp_path / "models")
    store = SqlStore(place)
    store.append([Question(id="a", round=0, rank=0)])
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, b"ready")
        time.sleep(600)
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
