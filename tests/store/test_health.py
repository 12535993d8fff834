import os
import sqlite3

import pytest

from askwise.errors import StoreError
from askwise.store.facts import Item
from askwise.store.health import health
from askwise.store.sql import SqlStore


def test_a_sound_store_has_no_risks_and_names_its_writer(tmp_path):
    store = SqlStore(tmp_path / "run.db")
    store.append([Item(id="a")])
    found = health(tmp_path / "run.db")
    assert (found.journal, found.intact, found.sqlite) == ("delete", True, sqlite3.sqlite_version)
    assert found.holder.pid == os.getpid()
    assert not [risk for risk in found.risks if "free" not in risk]
    store.close()
    assert health(tmp_path / "run.db").holder is None


def test_a_damaged_page_is_found(tmp_path):
    store = SqlStore(tmp_path / "run.db")
    store.append(Item(id=f"item-{number}") for number in range(5000))
    store.close()
    content = bytearray((tmp_path / "run.db").read_bytes())
    content[len(content) // 2 : len(content) // 2 + 2000] = bytes(2000)
    (tmp_path / "run.db").write_bytes(content)
    found = health(tmp_path / "run.db")
    assert not found.intact
    assert "is damaged; restore it from a copy" in found.risks[0]


def test_another_journal_mode_is_a_risk_until_a_writer_puts_it_right(tmp_path):
    SqlStore(tmp_path / "run.db").close()
    base = sqlite3.connect(tmp_path / "run.db")
    base.execute("PRAGMA journal_mode=WAL")
    base.close()
    assert "journal mode is wal" in health(tmp_path / "run.db").risks[0]
    SqlStore(tmp_path / "run.db").close()
    assert health(tmp_path / "run.db").journal == "delete"


def test_what_is_no_store_is_refused(tmp_path):
    (tmp_path / "run.db").write_text("hello" * 1000)
    with pytest.raises(StoreError, match="not an askwise store"):
        health(tmp_path / "run.db")
    with pytest.raises(StoreError, match="there is no store"):
        health(tmp_path / "no.db")
