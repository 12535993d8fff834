"""Items that every new model asks about until somebody answers: it costs the same each time."""

import random

import pytest

from askwise.store.facts import Answer, Item, Quarantine, Question
from askwise.store.ledger import Ledger
from askwise.store.sql import SqlStore, reading

IDS = [f"item-{number}" for number in range(12)]


@pytest.fixture
def store(tmp_path):
    found = SqlStore(tmp_path / "run.db")
    found.append([Item(id=name) for name in IDS])
    yield found
    found.close()


def asked(store, number, kind="learn", names=IDS):
    store.append([Question(id=name, round=number, rank=at, kind=kind) for at, name in enumerate(names)])


def test_asking_again_reads_one_question_an_item_however_often_it_was_asked(store, monkeypatch):
    checked = []
    own = reading.checked_fact
    monkeypatch.setattr(reading, "checked_fact", lambda *given: checked.append(1) or own(*given))
    read = []
    for number in range(30):
        checked.clear()
        asked(store, number)
        read.append(len(checked))
    assert read[0] == 0
    assert set(read[1:]) == {len(IDS)}
    store.answer([Answer(id=IDS[0], key="k", verdict="skip")])
    checked.clear()
    asked(store, 30)
    assert len(checked) >= 30 + len(
        IDS
    )  # the control: what was said about an item is read with its questions


@pytest.mark.parametrize("seed", range(6))
def test_places_and_numbers_are_those_of_the_whole_history(store, seed):
    rng, ledger = random.Random(seed), Ledger(store)
    for number in range(40):
        some = rng.sample(IDS, 4)
        match rng.randrange(5):
            case 0:
                verdict = rng.choice(["label", "skip", "cannot_tell", "retract"])
                label = 1 if verdict == "label" else None
                store.answer([Answer(id=some[0], key=f"k{number}", verdict=verdict, label=label)])
            case 1:
                store.append([Quarantine(id=some[0], reason=rng.choice(["broken", None]))])
            case 2:
                asked(store, number, rng.choice(["test", "check"]), some)
            case _:
                asked(store, number, names=some)
        again = Ledger(store).refresh()  # it refuses numbers with a gap
        assert store.places() == again.places() == ledger.refresh().places()
        assert ledger.open == again.open
        assert ledger.labels == again.labels
