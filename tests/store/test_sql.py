"""What a store on disk refuses, and how it says so."""

import os
import sqlite3

import pytest

from askwise.errors import StoreError
from askwise.store.facts import Answer, Item
from askwise.store.sql import SqlStore

# Python 3.12 warns of threads; the children here start none and end by _exit
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def test_every_connection_is_as_durable_as_a_rollback_journal_can_be(tmp_path):
    store = SqlStore(tmp_path / "run.db")
    with store._reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "delete"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3  # EXTRA
    store.close()


def test_a_newer_schema_is_refused_and_left_alone(tmp_path):
    SqlStore(tmp_path / "run.db").close()
    base = sqlite3.connect(tmp_path / "run.db")
    base.execute("update meta set value = '99'")
    base.commit()
    base.close()
    before = (tmp_path / "run.db").read_bytes()
    with pytest.raises(StoreError, match="has schema 99, and this askwise knows up to 2; upgrade it"):
        SqlStore(tmp_path / "run.db")
    assert (tmp_path / "run.db").read_bytes() == before


def _as_nobody(action) -> str:
    """The message of the StoreError that an action raises for a user without rights."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            action()
            os.write(writer, b"nothing was refused")
        except StoreError as error:
            os.write(writer, str(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        return pipe.read()


def test_a_read_only_store_is_refused_in_one_line(tmp_path):
    store = tmp_path / "run.db"
    SqlStore(store).close()
    store.chmod(0o444)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder != folder.parent:
            folder.chmod(folder.stat().st_mode | 0o055)
    tmp_path.chmod(0o555)
    try:
        assert "is read-only; make" in _as_nobody(lambda: SqlStore(store))
    finally:
        tmp_path.chmod(0o755)


def test_the_database_of_another_program_is_refused(tmp_path):
    base = sqlite3.connect(tmp_path / "run.db")
    base.execute("create table recipes (name)")
    base.commit()
    base.close()
    with pytest.raises(StoreError, match="database of another program"):
        SqlStore(tmp_path / "run.db")


def test_a_file_that_is_no_database_is_refused_and_not_held(tmp_path):
    (tmp_path / "run.db").write_text("id,label\n" * 200)
    for _ in range(2):
        with pytest.raises(StoreError, match="not an askwise store"):
            SqlStore(tmp_path / "run.db")


def test_a_folder_a_missing_folder_and_a_missing_store_are_told_apart(tmp_path):
    with pytest.raises(StoreError, match="is a folder; give the name of a file"):
        SqlStore(tmp_path)
    with pytest.raises(StoreError, match="mkdir -p"):
        SqlStore(tmp_path / "no" / "run.db")
    with pytest.raises(StoreError, match="there is no store"):
        SqlStore(tmp_path / "run.db", access="read")


def test_names_with_quotes_percent_and_question_marks_are_just_names(tmp_path):
    path = tmp_path / "a 'b' ?mode=ro&x=%41#.db"
    store = SqlStore(path)
    store.append([Item(id="a")])
    store.close()
    assert path.exists()


def test_a_full_disk_is_one_clear_line_and_nothing_acknowledged_is_lost(tmp_path):
    store = SqlStore(tmp_path / "run.db")
    store.append([Answer(id="a", key="1", verdict="label", label=0)])
    with store._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StoreError, match="full; free some space and run again"):
        store.append(Item(id="x" * 100 + str(number)) for number in range(1000))
    assert [answer.label for answer in store.facts(Answer)] == [0]
    assert store.count() == 0
    store.close()
