from hypothesis import given
from hypothesis import strategies as st

from askwise.store.facts import Answer, Item, Quarantine, Question
from askwise.store.ledger import Ledger
from askwise.store.memory import MemoryStore

IDS = [f"item-{number}" for number in range(6)]
EVENTS = st.lists(
    st.tuples(st.sampled_from(IDS), st.sampled_from(["ask", "label", "other", "skip", "bad", "good"])),
    max_size=40,
)


def fact(name: str, event: str, number: int):
    match event:
        case "ask":
            return Question(id=name, round=0, rank=0)
        case "bad" | "good":
            return Quarantine(id=name, reason="empty" if event == "bad" else None)
        case "skip":
            return Answer(id=name, key=str(number), kind="skip", label=None)
    return Answer(id=name, key=str(number), kind="label", label=int(event == "other"))


def places(ledger: Ledger, name: str) -> int:
    return sum(name in place for place in (ledger.open, ledger.labels, ledger.skipped, ledger.quarantined))


@given(EVENTS, st.data())
def test_every_item_is_in_exactly_one_place_after_any_facts_read_at_any_moments(events, data):
    store = MemoryStore()
    store.append([Item(id=name) for name in IDS])
    stepwise = Ledger(store)
    touched: set[str] = set()
    for number, (name, event) in enumerate(events):
        store.append([fact(name, event, number)])
        touched.add(name)
        if data.draw(st.booleans()):
            stepwise.refresh()
    stepwise.refresh()
    at_once = Ledger(store).refresh()
    for name in IDS:
        assert places(at_once, name) <= 1
        assert at_once.known(name) == bool(places(at_once, name))
        assert name in touched or not at_once.known(name)
    assert at_once.open == stepwise.open
    assert at_once.labels == stepwise.labels
    assert at_once.skipped == stepwise.skipped
    assert at_once.quarantined == stepwise.quarantined
    assert at_once.labels_at(store.revision) == at_once.labels


def test_labels_at_a_revision_do_not_know_what_came_later():
    store = MemoryStore()
    store.append([Item(id="a"), Item(id="b")])
    first = store.append([Answer(id="a", key="1", kind="label", label=0)])
    second = store.append([Answer(id="a", key="2", kind="label", label=1)])
    third = store.append([Quarantine(id="a", reason="gone")])
    ledger = Ledger(store).refresh()
    assert ledger.labels_at(first) == {"a": 0}
    assert ledger.labels_at(second) == {"a": 1}
    assert ledger.labels_at(third) == {}
    assert [answer.label for answer in ledger.history("a")] == [0, 1]


def test_a_question_of_a_quarantined_item_is_not_open_and_comes_back_with_it():
    store = MemoryStore()
    store.append([Question(id="a", round=0, rank=0)])
    store.append([Quarantine(id="a", reason="gone")])
    ledger = Ledger(store).refresh()
    assert (list(ledger.open), ledger.quarantined) == ([], {"a": "gone"})
    store.append([Quarantine(id="a", reason=None)])
    assert list(ledger.refresh().open) == ["a"]
