"""What was damaged is named, and the rest can be saved."""

import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from askwise.errors import AskwiseError, CorruptError, InputError
from askwise.store.contract import Taker
from askwise.store.facts import (
    FACTS,
    Answer,
    Asked,
    ClassEdit,
    Item,
    Planned,
    Quarantine,
    Question,
    Round,
    Segment,
    Snapshot,
)
from askwise.store.sql import SqlStore
from askwise.store.sql.care import check, recover


def written(path: Path, *, answers: int = 60) -> Path:
    """A store as a run leaves it."""
    store = SqlStore(path)
    store.append([ClassEdit(edit="add", number=n, name=name) for n, name in enumerate(["cat", "dog"])])
    store.append([Planned(plan={"classes": ["cat", "dog"], "seed": 1}), Segment(conditions={"threads": 1})])
    store.append([Item(id=f"item-{number:04d}") for number in range(200)])
    store.append(
        [
            Asked(round=0, scored=200, picks=answers, scores="ab" * 32, seconds={"score": 0.25}),
            *(
                Question(id=f"item-{number:04d}", round=0, rank=number, score=1 / (number + 1))
                for number in range(answers)
            ),
        ]
    )
    for number, question in enumerate(store.facts(Question)):
        store.answer(
            [
                Answer(
                    id=question.id,
                    key="k",
                    verdict="label",
                    label=number % 2,
                    question=question.question,
                    annotator="ann",
                    seconds=number / 7,
                )
            ]
        )
    store.append([Quarantine(id="item-0199", reason="empty")])
    store.append([Snapshot(round=1, seen=7, count=answers, sha256="cd" * 32)])
    weights = {"number": 1, "seen": 7, "labels": answers, "weights": "ef" * 32, "checkpoint": "model-1"}
    store.append([Round(**weights, metrics={"test": {"accuracy": 0.75}}, seconds={"train": 1.5})])
    store.close()
    return path


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return written(tmp_path_factory.mktemp("sound") / "run.db")


def everything(path: Path):
    store = SqlStore(path, access="read")
    try:
        late = {since: store.touched(since) for since in (3, 30, 66)}
        return store.facts(*FACTS), list(store.ids()), store.count(), store.places(), late
    finally:
        store.close()


def test_a_sound_store_has_no_problems(sound):
    assert check(sound) == []


def changed(sound: Path, folder: Path, *orders: str) -> Path:
    path = Path(shutil.copy(sound, folder / "run.db"))
    with closing(sqlite3.connect(path)) as base:
        for order in orders:
            base.execute(order)
        base.commit()
    return path


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ("update answers set label = '0' where id = 'item-0001'", r"of revision 6 \(Answer\)"),
        ("update answers set seconds = 1.5 where id = 'item-0001'", r"of revision 6 \(Answer\)"),
        ("update questions set score = score * 2 where rank = 3", r"of revision 4 \(Question\)"),
        ("delete from answers where id = 'item-0001'", "59 facts of Answer where 60 were written"),
        ("update rounds set metrics = replace(metrics, '0.75', '0.95')", r"of revision 67 \(Round\)"),
        ("update commits set totals = replace(totals, '200', '201') where revision = 67", "revision 67"),
        ("update head set revision = 50", "its head is not revision 50"),
        ("delete from head", "its head has 0 rows"),
    ],
)
def test_a_changed_fact_is_refused_with_its_revision_before_it_is_used(sound, tmp_path, order, said):
    path = changed(sound, tmp_path, order)
    with pytest.raises(CorruptError, match=f"{said}.*askwise store recover"):
        everything(path)
    assert check(path) != []


def test_a_change_with_a_right_sum_in_the_middle_of_the_chain_is_found_by_the_check(sound, tmp_path):
    """Row and commit sums fit, and still the commits do not follow each other."""
    from askwise.store.sql.reading import Commit

    path = Path(shutil.copy(sound, tmp_path / "run.db"))
    with closing(sqlite3.connect(path)) as base:
        columns = list(base.execute("select * from commits where revision = 20").fetchone())
        columns[1] = "2000-01-01T00:00:00+00:00"
        forged = Commit(*columns).right_sum()
        base.execute("update commits set at = ?, sum = ? where revision = 20", (columns[1], forged))
        base.commit()
    assert check(path) == ["revision 21 does not follow the one before"]


def test_recovery_gives_back_everything_but_the_broken_fact_and_names_it(sound, tmp_path):
    path = changed(sound, tmp_path, "update answers set label = '0' where id = 'item-0001'")
    found = recover(path, tmp_path / "new.db")
    assert found.lost == ["revision 6: 1 Answer"]
    assert (found.saved["Answer"], found.saved["Question"], found.saved["Item"]) == (59, 60, 200)
    assert check(tmp_path / "new.db") == []
    before, after = everything(sound)[0], everything(tmp_path / "new.db")[0]
    assert after == [fact for fact in before if not (isinstance(fact, Answer) and fact.id == "item-0001")]
    store = SqlStore(tmp_path / "new.db")  # and it can be gone on with
    assert store.append([Quarantine(id="item-0002", reason="x")]) == 68
    assert store.lease(Taker("ann", seconds=60)).question.id == "item-0001"
    store.close()


def test_recovery_of_a_broken_commit_keeps_its_facts(sound, tmp_path):
    path = changed(sound, tmp_path, "update commits set at = 'never' where revision = 30")
    found = recover(path, tmp_path / "new.db")
    assert found.lost == ["revision 30: its commit; 1 facts of it are saved"]
    assert everything(tmp_path / "new.db")[0] == everything(sound)[0]


def test_recovery_reads_around_a_destroyed_page(sound, tmp_path):
    content = bytearray(sound.read_bytes())
    leaf = bytes([13])  # how SQLite begins a page of rows
    pages = [place for place in range(4096, len(content), 4096) if content[place : place + 1] == leaf]
    items = [page for page in pages if b"item-0150" in content[page : page + 4096]]
    place = next(page for page in items if b"learn" not in content[page : page + 4096])
    content[place : place + 4096] = bytes(4096)
    (tmp_path / "run.db").write_bytes(content)
    with pytest.raises(AskwiseError):
        everything(tmp_path / "run.db")
    assert check(tmp_path / "run.db") != []
    found = recover(tmp_path / "run.db", tmp_path / "new.db")
    assert 0 < found.saved["Item"] < 200
    assert found.lost == [f"revision 3: {200 - found.saved['Item']} Item"]
    assert (found.saved["Answer"], found.saved["Question"]) == (60, 60)
    assert check(tmp_path / "new.db") == []


def test_recovery_does_not_overwrite(sound, tmp_path):
    (tmp_path / "new.db").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        recover(sound, tmp_path / "new.db")


def unverified(path: Path):
    """The facts as a reader without sums would find them."""
    with closing(sqlite3.connect(path)) as base:
        names = [name for (name,) in base.execute("select name from sqlite_master where type = 'table'")]
        kept = [name for name in sorted(names) if name not in ("leases", "meta", "head", "commits")]
        return [base.execute(f"select * from {name}").fetchall() for name in kept]  # noqa: S608


def flipped(sound: Path, folder: Path, count: int, seed: int) -> dict[str, int]:
    """What came of so many flipped bits and cut files: the same facts, or refused, or other facts."""
    wanted, plain = everything(sound), unverified(sound)
    content = sound.read_bytes()
    chance = random.Random(seed)
    found = {"same": 0, "refused": 0, "silent": 0, "refused without its name": 0, "silent without sums": 0}
    for number in range(count):
        bad = bytearray(content)
        if number % 8 == 7:
            del bad[chance.randrange(len(bad)) :]
        else:
            bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        path = folder / f"{number}.db"
        path.write_bytes(bad)
        try:
            found["same" if everything(path) == wanted else "silent"] += 1
        except AskwiseError as error:
            found["refused" if str(path) in str(error) else "refused without its name"] += 1
        with suppress(sqlite3.DatabaseError, UnicodeDecodeError):
            found["silent without sums"] += unverified(path) != plain
        path.unlink()
    return found


def test_no_flipped_bit_or_cut_file_changes_a_fact_in_silence(sound, tmp_path):
    found = flipped(sound, tmp_path, 80, seed=0)
    assert found["silent"] == found["refused without its name"] == 0
    assert found["silent without sums"] > 0  # control: without the sums they would
    assert found["same"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("block", range(6))
def test_no_flipped_bit_of_a_thousand_changes_a_fact_in_silence(sound, tmp_path, block, record_property):
    found = flipped(sound, tmp_path, 200, seed=1 + block)
    for what, count in found.items():
        record_property(f"database: {what}", count)
    assert found["silent"] == found["refused without its name"] == 0
    assert found["silent without sums"] > 0
