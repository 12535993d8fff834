"""One exam for every store."""

from pathlib import Path

import pytest

from askwise.errors import StoreError
from askwise.store import Store, open_store
from askwise.store.facts import Answer, Asked, Item, Planned, Quarantine, Question, Round, Segment, Snapshot


@pytest.fixture(params=["memory", "sql"])
def store(request, tmp_path):
    found = open_store(None if request.param == "memory" else tmp_path / "run.db")
    yield found
    found.close()


def label(name: str, key: str, value: int | None = 0) -> Answer:
    return Answer(id=name, key=key, kind="label", label=value)


ROUND = Round(
    number=1,
    seen=3,
    labels=2,
    weights="ab",
    checkpoint="round-0001",
    metrics={"test": {"accuracy": 0.5, "bins": [[1, 0.25, 1.0]]}},
    seconds={"train": 1.5},
)


def test_it_is_a_store(store):
    assert isinstance(store, Store)


def test_facts_come_back_as_they_went_in(store):
    facts = [
        Item(id="a"),
        Item(id="ü\n<script>"),
        Quarantine(id="a", reason="empty"),
        Quarantine(id="a", reason=None),
        Question(id="a", round=1, rank=0, score=0.1 + 0.2, guess=None),
        label("a", "k"),
        Snapshot(round=1, seen=3, count=2, sha256="cd"),
        ROUND,
        Asked(round=1, scored=10, picks=2, scores="ef", seconds={}),
        Planned(plan={"seed": 2**63 - 1, "classes": ["x"]}),
        Segment(conditions={"threads": 1}, changed=["threads"]),
    ]
    assert store.append(facts) == 1
    for fact in facts:
        found = store.facts(type(fact))
        assert type(fact)(**{**fact.__dict__, "revision": 1}) in found


def test_revisions_grow_by_one_with_every_append_of_any_kind(store):
    assert store.revision == 0
    assert [store.append([Item(id="a")]), store.append([label("a", "k")])] == [1, 2]
    assert store.append([]) == 2
    assert store.revision == 2


def test_order_is_kept_within_and_across_appends(store):
    store.append([Question(id=name, round=0, rank=rank) for rank, name in enumerate("zay")])
    store.append([Question(id="b", round=0, rank=0)])
    assert [question.id for question in store.facts(Question)] == ["z", "a", "y", "b"]
    assert [question.id for question in store.facts(Question, since=1)] == ["b"]


@pytest.mark.parametrize("twice", [[Item(id="a")], [label("a", "k")], [ROUND]])
def test_what_must_occur_once_is_refused_the_second_time_and_nothing_is_kept(store, twice):
    store.append(twice)
    with pytest.raises(StoreError, match="there already"):
        store.append([Quarantine(id="new", reason="x"), *twice])
    assert store.facts(Quarantine) == []
    assert store.revision == 1


def test_an_append_that_fails_midway_leaves_nothing(store):
    def broken():
        yield Item(id="a")
        raise RuntimeError("the source of facts broke")

    with pytest.raises(RuntimeError):
        store.append(broken())
    assert store.count() == 0
    assert store.revision == 0
    assert store.append([Item(id="a")]) == 1


def test_many_items_are_counted_and_listed(store):
    store.append(Item(id=f"item-{number}") for number in range(25_000))
    assert store.count() == 25_000
    assert len(set(store.ids())) == 25_000


def test_a_store_on_disk_keeps_facts_and_checkpoints_and_one_in_memory_says_it_does_not(store):
    store.checkpoint("round-0001", lambda folder: (folder.mkdir(), (folder / "w").write_text("1")), keep=[])
    if store.folder is None:
        return
    assert (store.folder / "round-0001" / "w").read_text() == "1"
    assert isinstance(store.folder, Path)
    store.append([Item(id="a")])
    store.close()
    again = open_store(store.path)
    assert list(again.ids()) == ["a"]
    again.close()
