"""What was added to a run is there when it is opened again."""

import numpy as np
import pytest
from small_run import IDS, POINTS, TRUTH, learner, ledger, outcome, pool

from askwise.errors import CorruptError
from askwise.nets import tiny_encoder
from askwise.pool import arrays, text


def test_added_items_last_and_the_run_ends_as_if_it_had_not_been_closed(folder):
    few = {"pool": pool(POINTS[:20], IDS[:20]), "budget": 7}
    for name in ("whole", "closed"):
        run = learner(folder / f"{name}.db", **few | {"pool": pool(POINTS[:20], IDS[:20])})
        assert run.add(arrays(POINTS[20:30], ids=IDS[20:30])) == IDS[20:30]
        assert run.add(arrays(POINTS[25:40], ids=IDS[25:40])) == IDS[30:40]
        if name == "closed":
            run.close()
            run = learner(folder / "closed.db", **few | {"pool": pool(POINTS[:20], IDS[:20])})
            assert run.status().counts.items == 40
            assert run.status().counts.quarantined == 0
        run.run(oracle=TRUTH)
        run.close()
    assert outcome(folder / "closed.db") == outcome(folder / "whole.db")


def test_an_added_item_that_cannot_be_read_is_quarantined_and_the_others_last(folder):
    bad = POINTS[20:24].copy()
    bad[1] = np.nan
    with learner(folder / "run.db", pool=pool(POINTS[:20], IDS[:20])) as run:
        run.add(arrays(bad, ids=IDS[20:24]))
        assert run.status().counts.items == 24
    with learner(folder / "run.db", pool=pool(POINTS[:20], IDS[:20])) as run:
        assert run.status().counts.items == 24
        assert set(ledger(run).quarantined) == {IDS[21]}


@pytest.mark.parametrize("name", ["items.npy", "ids.json"])
def test_damage_to_what_was_added_is_refused_by_the_name_of_the_file(folder, name):
    with learner(folder / "run.db", pool=pool(POINTS[:20], IDS[:20])) as run:
        run.add(arrays(POINTS[20:30], ids=IDS[20:30]))
    path = folder / "run.db.added" / "0000" / name
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    with pytest.raises(CorruptError, match=f"0000/{name}"):
        learner(folder / "run.db", pool=pool(POINTS[:20], IDS[:20]))


def test_in_memory_nothing_is_written(folder):
    run = learner(pool=pool(POINTS[:20], IDS[:20]))
    run.add(arrays(POINTS[20:30], ids=IDS[20:30]))
    assert run.status().counts.items == 30
    assert list(folder.iterdir()) == []


def row_of(run, ids):
    return {name: (run.item(name).row, run.item(name).name) for name in ids}


def test_rows_of_added_items_go_on_and_stay_when_the_store_is_opened_again(folder):
    bad = POINTS[25:35].copy()
    bad[7] = np.nan  # cannot be kept, and takes no row from those after it
    with learner(folder / "run.db", pool=POINTS[:30]) as run:
        run.add(bad)  # the first five are in the pool
        last = run.add(POINTS[35:40])
        good = [name for name in run.pool.ids if not run.pool.read([name]).quarantined]
        before = row_of(run, good)
        rows = np.concatenate([POINTS[:30], bad, POINTS[35:40]])
        for name, (row, called) in before.items():
            assert np.array_equal(run.item(name).inputs, rows[row])
            assert called == f"x[{row}]"
        assert len({row for row, _ in before.values()}) == len(before)
        assert run.pool.find(32) == run.pool.find(27)  # the same item, under both its rows
    with learner(folder / "run.db", pool=POINTS[:30]) as run:
        assert row_of(run, good) == before
        assert [run.pool.find(row) for row in range(40, 45)] == last
        run.tell({44: "red"})
        [new] = run.add(np.full((1, 4), 7, np.float32))
        assert run.item(new).row == 45


def test_names_of_added_texts_stay_when_the_store_is_opened_again(folder):
    tokens = tiny_encoder().tokens

    def words(texts):
        return text(texts, encode=lambda found: tokens(found, length=4).float())

    run = learner(folder / "run.db", pool=words(["one film", "two films", "three"]), initial=1, budget=2)
    more = run.add(words(["four films", "five"]))
    before = row_of(run, more)
    assert list(before.values()) == [(3, "four films"), (4, "five")]
    run.close()
    again = learner(folder / "run.db", pool=words(["one film", "two films", "three"]), initial=1, budget=2)
    assert row_of(again, more) == before
    assert again.pool.find("five") == more[1]
