"""Where the models of rounds are by now, by the facts."""

from dataclasses import replace

import pytest

from askwise.store import open_store
from askwise.store.facts import Restored, Round
from askwise.store.kept import as_kept


@pytest.fixture
def store(tmp_path):
    found = open_store(tmp_path / "run.db")
    rounds = [
        Round(number=n, seen=n, labels=n, weights=f"w{n}", checkpoint=name, metrics={}, seconds={})
        for n, name in ((1, "model-1"), (2, ""))
    ]
    found.append(rounds)
    yield found
    found.close()


def test_a_round_of_which_nothing_came_later_is_as_it_was_appended(store):
    assert as_kept(store, store.facts(Round)) == store.facts(Round)


def test_a_model_that_came_onto_the_disk_later_is_where_the_last_fact_says(store):
    store.append([Restored(round=2, weights="w2", checkpoint="model-2")])
    store.append([Restored(round=2, weights="other", checkpoint="model-3")])
    first, second = store.facts(Round)
    assert as_kept(store, [first, second]) == [
        first,
        replace(second, weights="other", checkpoint="model-3"),
    ]
