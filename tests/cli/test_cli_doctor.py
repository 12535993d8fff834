import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path


def states(out):
    return {finding["what"]: finding["state"] for finding in json.loads(out)["findings"]}


def test_doctor_looks_at_the_machine(askwise):
    code, out, _ = askwise("doctor", "--json")
    assert code == 0
    assert {"processor", "sqlite", "disk", "mount", "extras", "data sets"} <= states(out).keys()
    assert "broken" not in states(out).values()


def test_doctor_finds_a_healthy_store_healthy(askwise, finished):
    code, out, _ = askwise("doctor", finished.with_name("tiny-seed0.db"), "--json")
    found = states(out)
    assert code == 0
    assert {found["store"], found["facts"], found["journal"], found["model"]} == {"ok"}


def test_doctor_finds_a_flipped_bit_in_the_last_model(askwise, finished, tmp_path):
    for path in finished.parent.glob("tiny-seed0*"):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / path.name)
    folders = (tmp_path / "tiny-seed0.db.checkpoints").iterdir()
    weights = max(folders, key=lambda path: path.stat().st_mtime_ns) / "weights.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    code, out, _ = askwise("doctor", tmp_path / "tiny-seed0.db", "--json")
    assert code == 1
    assert states(out)["model"] == "broken"


def test_doctor_calls_a_file_that_is_no_store_broken(askwise, tmp_path):
    (tmp_path / "text.db").write_text("not a database " * 100)
    code, out, _ = askwise("doctor", tmp_path / "text.db")
    assert code == 1
    assert "broken  store" in out


def test_doctor_notes_a_store_in_wal_mode(askwise, finished, tmp_path):
    store = tmp_path / "wal.db"
    content = bytearray(finished.with_name("tiny-seed0.db").read_bytes())
    content[18:20] = b"\x02\x02"  # as SQLite marks a file in WAL mode
    store.write_bytes(content)
    _, out, _ = askwise("doctor", store, "--json")
    assert states(out)["journal"] == "note"


def test_doctor_names_a_changed_fact_and_recover_saves_the_rest(askwise, finished, tmp_path):
    store = Path(shutil.copy(finished.with_name("tiny-seed0.db"), tmp_path / "run.db"))
    with closing(sqlite3.connect(store)) as base:
        base.execute("update answers set label = '9' where seq = (select max(seq) from answers)")
        base.commit()
        count = base.execute("select count(*) from answers").fetchone()[0]
    code, out, _ = askwise("doctor", store, "--json")
    assert code == 1
    assert states(out)["facts"] == "broken"
    assert "(Answer) is not the one written" in out
    code, _, err = askwise("report", store)
    assert (code, len(err.splitlines())) == (2, 1)
    code, out, _ = askwise("store", "recover", store, tmp_path / "new.db")
    assert code == 0
    assert f"{count - 1} Answer" in out
    assert re.search(r"lost  revision \d+: 1 Answer", out)
    assert askwise("doctor", tmp_path / "new.db")[0] == 0
    assert askwise("store", "recover", store, tmp_path / "new.db")[0] == 2


def test_doctor_says_it_in_ten_lines_with_what_to_do_last(askwise, finished):
    code, out, _ = askwise("doctor", finished.with_name("tiny-seed0.db"))
    lines = out.splitlines()
    assert code == 0
    assert len(lines) <= 10
    assert all(line.startswith(("ok ", "note ")) for line in lines[:-1])
    assert sum("tiny-seed0.db: " in line for line in lines) == 1
    assert lines[-1] == "nothing to do" or lines[-1].endswith("the lines that do not begin with ok")
