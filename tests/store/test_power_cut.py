"""An acknowledged label survives a power cut at any moment; and the simulation would show it if not."""

import json
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from simulated_disk import Disk

from askwise.store.facts import Answer
from askwise.store.sql import SqlStore

HERE = Path(__file__).parent


def recorded(folder: Path, mode: str, count: int) -> list[list]:
    program = [sys.executable, HERE / "simulated_disk.py", folder / "run.db", mode, str(count)]
    return json.loads(subprocess.run(program, capture_output=True, check=True, text=True).stdout)


def lost(events: list[list], folder: Path, *, every: int = 1) -> tuple[int, int, int]:
    """Cuts tried, cuts after which an acknowledged answer was missing, cuts after which nothing opened."""
    disk, acknowledged = Disk(), -1
    tried = missing = broken = 0
    for place, event in enumerate(events):
        if event[0] == "acknowledged":
            acknowledged = event[1]
        else:
            disk.play(event)
        if acknowledged < 0 or place % every:
            continue
        for chance in (None, random.Random(place)):
            tried += 1
            after = folder / f"cut-{place}-{chance is None}"
            disk.cut(after, chance)
            try:
                with closing(sqlite3.connect(after / "run.db")) as base:  # rolls back what was half done
                    found = {int(label) for (label,) in base.execute("select label from answers")}
                    broken += base.execute("pragma integrity_check").fetchone() != ("ok",)
            except sqlite3.DatabaseError:
                broken += 1
                continue
            missing += not set(range(acknowledged + 1)) <= found
    return tried, missing, broken


def test_no_power_cut_loses_an_acknowledged_answer(tmp_path, capsys):
    events = recorded(tmp_path, "EXTRA", 8)
    tried, missing, broken = lost(events, tmp_path)
    with capsys.disabled():
        sys.stdout.write(f"\n{tried} power cuts with synchronous=EXTRA: {missing} lost, {broken} broken\n")
    assert tried > 200
    assert (missing, broken) == (0, 0)
    last = max(tmp_path.glob("cut-*-True"), key=lambda path: int(path.name.split("-")[1]))
    store = SqlStore(last / "run.db")
    assert len(store.facts(Answer)) == 8
    store.close()


@pytest.mark.parametrize("mode", ["OFF", "NORMAL", "FULL"])
def test_control_a_less_durable_mode_is_caught_losing_answers(tmp_path, mode):
    tried, missing, broken = lost(recorded(tmp_path, mode, 2), tmp_path)
    assert missing + broken > 0, f"{tried} cuts with synchronous={mode} lost nothing: the test proves nothing"
