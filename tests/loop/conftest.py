"""Runs on a disk in memory: a kill, unlike a power cut, loses no write, synced or not."""

import re
import tempfile
from pathlib import Path

import pytest

from askwise.store.sql import reading


@pytest.fixture(scope="module")
def memory_disk():
    """A folder in memory, where the machine has one."""
    shared = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture
def folder(memory_disk, request):
    """A folder of its own for each test."""
    home = memory_disk / re.sub(r"\W", "_", request.node.name)[:100]
    home.mkdir()
    return home


@pytest.fixture
def read(monkeypatch):
    """How many rows each read of a store has brought."""
    found = []
    for name in ("page", "page_of_ids", "about"):
        own = getattr(reading, name)

        def counted(*given, own=own, **options):
            some = own(*given, **options)
            found.append(len(some))
            return some

        monkeypatch.setattr(reading, name, counted)
    return found
