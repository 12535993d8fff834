from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.store.contract import Places
from askwise.store.facts import Answer, ClassEdit, Item, Policy, Quarantine, Question, Resolution
from askwise.store.ledger import Ledger
from askwise.store.memory import MemoryStore

IDS = [f"item-{number}" for number in range(6)]
KINDS = ["ask", "check", "label", "other", "skip", "retract", "bad", "good", "resolve", "majority", "latest"]
KINDS += ["merge", "split", "retire", "unresolve"]
EVENTS = st.lists(
    st.tuples(st.sampled_from(IDS), st.sampled_from(KINDS), st.sampled_from(["ann", "ben"])), max_size=40
)


def fact(name: str, event: str, who: str, number: int):
    match event:
        case "ask" | "check":
            return Question(id=name, round=0, rank=0, kind="learn" if event == "ask" else "check")
        case "bad" | "good":
            return Quarantine(id=name, reason="empty" if event == "bad" else None)
        case "skip" | "retract":
            return Answer(id=name, key=str(number), verdict=event, annotator=who)
        case "majority" | "latest":
            return Policy(policy=event)
        case "merge":
            return ClassEdit(edit="merge", number=1, into=(0,))
        case "split":
            return ClassEdit(edit="split", number=0, into=(2, 3))
        case "retire":
            return ClassEdit(edit="retire", number=2)
        case "resolve":
            return Resolution(id=name, verdict="label", label=2)
        case "unresolve":
            return Resolution(id=name, verdict="retract")
    return Answer(id=name, key=str(number), verdict="label", label=int(event == "other"), annotator=who)


def places(ledger: Ledger, name: str) -> int:
    return sum(name in place for place in (ledger.open, ledger.labels, ledger.skipped, ledger.quarantined))


@settings(deadline=None)
@given(EVENTS, st.data())
def test_every_item_is_in_exactly_one_place_after_any_facts_read_at_any_moments(events, data):
    store = MemoryStore()
    store.append([Item(id=name) for name in IDS])
    stepwise = Ledger(store)
    touched: set[str] = set()
    moments = {0: {}}
    for number, (name, event, who) in enumerate(events):
        revision = store.append([fact(name, event, who, number)])
        touched.add(name)
        if data.draw(st.booleans()):
            moments[revision] = dict(stepwise.refresh().labels)
    stepwise.refresh()
    at_once = Ledger(store).refresh()
    for name in IDS:
        assert places(at_once, name) <= 1
        assert at_once.known(name) == bool(places(at_once, name))
        assert name in touched or not at_once.known(name)
    for part in ("open", "labels", "skipped", "quarantined", "count"):
        assert getattr(at_once, part) == getattr(stepwise, part)
    assert store.places() == Places(
        len(at_once.open), len(at_once.labels), len(at_once.skipped), len(at_once.quarantined)
    )
    assert at_once.labels_at(store.revision) == at_once.labels
    for revision, labels in moments.items():
        assert at_once.labels_at(revision) == labels
        now = at_once.labels
        differ = {n for n in labels.keys() | now.keys() if labels.get(n) != now.get(n)}
        assert at_once.changed_since(revision) == len(differ)


def test_labels_at_a_revision_do_not_know_what_came_later():
    store = MemoryStore()
    store.append([Item(id="a"), Item(id="b")])
    first = store.append([Answer(id="a", key="1", verdict="label", label=0)])
    second = store.append([Answer(id="a", key="2", verdict="label", label=1)])
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


def test_a_label_that_is_taken_back_leaves_the_item_unlabelled_until_it_is_asked_again():
    store = MemoryStore()
    store.append([Question(id="a", round=0, rank=0)])
    store.append([Answer(id="a", key="1", verdict="label", label=0)])
    store.append([Answer(id="a", key="2", verdict="retract")])
    ledger = Ledger(store).refresh()
    assert (ledger.known("a"), ledger.count) == (False, 0)
    store.append([Question(id="a", round=1, rank=0)])
    assert list(ledger.refresh().open) == ["a"]


def vote(key: str, who: str, label: int) -> Answer:
    return Answer(id="a", key=key, verdict="label", label=label, annotator=who)


def test_a_majority_waits_for_as_many_answers_as_the_question_wants_and_for_the_end_of_a_tie():
    store = MemoryStore()
    store.append([Policy(policy="majority"), Question(id="a", round=0, rank=0, needed=2)])
    ledger = Ledger(store)
    seen = []
    for answer in (vote("1", "ann", 0), vote("1", "ben", 1), vote("1", "eve", 1), vote("2", "ben", 0)):
        store.append([answer])
        seen.append(ledger.refresh().labels.get("a"))
    assert seen == [None, None, 1, 0]
    store.append([Resolution(id="a", verdict="label", label=2)])
    assert ledger.refresh().labels == {"a": 2}
    store.append([Resolution(id="a", verdict="retract")])
    assert ledger.refresh().labels == {"a": 0}  # a last word that is taken back leaves the answers


def test_a_last_word_on_test_answers_is_no_label_and_one_on_others_is():
    store = MemoryStore()
    store.append([Question(id="a", round=0, rank=0, kind="test", question="t")])
    store.append([Answer(id="a", key="1", verdict="label", label=0, question="t")])
    ledger = Ledger(store)
    [said] = ledger.history("a")
    store.append([Resolution(id="a", verdict="label", label=1, answers=(said.seq,))])
    assert (ledger.refresh().known("a"), store.places()) == (False, Places(0, 0, 0, 0))
    store.append([Resolution(id="a", verdict="label", label=1)])
    assert ledger.refresh().labels == {"a": 1}  # the control


def test_items_of_a_class_that_was_split_or_retired_are_gone_until_they_have_another_label():
    store = MemoryStore()
    names = enumerate(["zero", "one", "two", "three", "four"])
    store.append([ClassEdit(edit="add", number=number, name=name) for number, name in names])
    store.append([Answer(id=name, key="1", verdict="label", label=label) for label, name in enumerate("abc")])
    store.append([ClassEdit(edit="split", number=0, into=(3, 4)), ClassEdit(edit="retire", number=1)])
    ledger = Ledger(store)
    assert (ledger.gone, ledger.split) == ({"a": (3, 4), "b": ()}, {"a": (3, 4)})
    store.append([Answer(id="a", key="2", verdict="label", label=4)])
    assert ledger.refresh().gone == {"b": ()}


def test_answers_to_test_and_check_questions_are_no_labels():
    store = MemoryStore()
    store.append([Question(id="a", round=0, rank=0, kind="test", question="t")])
    store.append([Answer(id="a", key="1", verdict="label", label=0, question="t")])
    assert Ledger(store).refresh().count == 0
