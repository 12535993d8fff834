"""What was added to a run is there when it is opened again."""

import numpy as np
import pytest
from small_run import IDS, POINTS, TRUTH, learner, ledger, outcome, pool

from askwise.errors import CorruptError
from askwise.pool import arrays


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
