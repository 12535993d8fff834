"""One exam for every store."""

import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from askwise.errors import InputError, StaleError, StoreError
from askwise.store import Store, open_store
from askwise.store.contract import Places, Taker
from askwise.store.facts import (
    FACTS,
    About,
    Act,
    Annotator,
    Answer,
    Asked,
    Attempt,
    Certificate,
    ClassEdit,
    Encoded,
    Group,
    Item,
    Listed,
    Planned,
    Policy,
    Quarantine,
    Question,
    Resolution,
    Restored,
    Role,
    Round,
    Segment,
    Snapshot,
    Sweep,
)
from askwise.store.labels import Mask, Numbers, Tags
from askwise.store.ledger import Ledger


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a store is: none is in memory."""
    if request.param == "memory":
        return None
    if request.param == "sqlite":
        return tmp_path / "run.db"
    return request.getfixturevalue("postgres").url(tmp_path / "models")


@pytest.fixture
def store(place):
    found = open_store(place)
    yield found
    found.close()


def label(name: str, key: str, value=0, **more) -> Answer:
    return Answer(id=name, key=key, verdict="label", label=value, **more)


def ask(store, *names: str, **more) -> list[Question]:
    before = store.revision
    store.append([Question(id=name, round=0, rank=rank, **more) for rank, name in enumerate(names)])
    return store.facts(Question, since=before)


ROUND = Round(
    number=1,
    seen=3,
    labels=2,
    weights="ab",
    checkpoint="model-1",
    metrics={"test": {"accuracy": 0.5, "bins": [[1, 0.25, 1.0]]}},
    seconds={"train": 1.5},
)

EVERY_FACT = [
    Item(id="a"),
    Item(id="ü\n<script>"),
    Listed(sha256="ab", count=2),
    Group(id="a", group="patient 1"),
    Quarantine(id="a", reason="empty"),
    Quarantine(id="a", reason=None),
    ClassEdit(edit="add", number=0, name="cat"),
    ClassEdit(edit="split", number=0, into=(1, 2)),
    Planned(plan={"seed": 2**63 - 1, "classes": ["x"], "last": None}),
    Segment(conditions={"threads": 1}, changed=["threads"]),
    Policy(policy="majority"),
    Annotator(annotator="ann", shown="Ann", kind="person", active=False),
    Act(by="me", act="take access", about="ann"),
    Role(role="keeper", holder="process 1", epoch=1),
    Question(id="a", round=1, rank=0, score=0.1 + 0.2, guess=None, question="own", kind="check", needed=3),
    Question(id="a", round=1, rank=1, score=float("-inf"), guess=Tags((3, 1), (2,))),
    label("a", "class"),
    label("a", "tags", Tags((5, 2), unknown=(1,))),
    label("a", "numbers", Numbers((0.1, -2.5e-300))),
    label("a", "mask", Mask("masks/ab.png", "ab" * 32)),
    Answer(id="a", key="skip", verdict="skip", annotator="ann", view="grid", assisted=True, seconds=1.25),
    Answer(id="a", key="no", verdict="cannot_tell", note="blurred"),
    Answer(id="a", key="back", verdict="retract", question="own"),
    Sweep(
        sweep="g",
        key="k",
        annotator="ann",
        number=1,
        items=("a", "b"),
        wrong=("b",),
        sentinels=("c",),
        missed=("c",),
    ),
    Sweep(sweep="g", key="l", annotator="ann", number=1, undone=True),
    Resolution(id="a", verdict="label", label=1, annotator="ann", answers=(3, 4), note="clear"),
    Snapshot(round=1, seen=3, count=2, sha256="cd"),
    Encoded(round=1, encoder="ef", count=1000, sha256="01"),
    ROUND,
    Restored(round=1, weights="cd", checkpoint="model-2"),
    Asked(round=1, turn=1, scored=10, picks=2, scores="ef", seconds={}),
    Attempt(certificate="c", number=1, seen=9, claim={"accuracy": 0.9}, result={"passed": False}),
    Certificate(certificate="c", attempt=2, statement={"accuracy": 0.9}),
]


def test_it_is_a_store(store):
    assert isinstance(store, Store)


def test_there_is_an_example_of_every_kind_of_fact():
    assert {type(fact) for fact in EVERY_FACT} == set(FACTS)


def test_facts_come_back_as_they_went_in_and_in_order(store):
    revision = store.append(EVERY_FACT)
    for kind in FACTS:
        wanted = [fact for fact in EVERY_FACT if type(fact) is kind]
        found = [fact for fact in store.facts(kind) if getattr(fact, "role", "") != "trainer"]
        assert {fact.revision for fact in found} == {revision}
        for old, new in zip(wanted, found, strict=True):
            given = {"question": new.question} if kind is Question else {}
            given |= {"nth": new.nth} if issubclass(kind, About) else {}
            assert replace(new, seq=0, revision=0) == replace(old, **given)
    mixed = store.facts(*FACTS)
    assert [fact.seq for fact in mixed] == sorted({fact.seq for fact in mixed})


def test_a_score_of_minus_zero_is_read_again(store):
    store.append([Item(id="a"), Question(id="a", round=1, rank=0, score=-0.0)])
    assert store.facts(Question)[0].score == 0


def test_revisions_grow_by_one_with_every_append_of_any_kind(store):
    assert store.revision == 0
    assert [store.append([Item(id="a")]), store.append([label("a", "k")])] == [1, 2]
    assert store.append([]) == 2
    assert store.revision == 2


def test_order_is_kept_within_and_across_appends(store):
    ask(store, *"zay")
    ask(store, "b")
    assert [question.id for question in store.facts(Question)] == ["z", "a", "y", "b"]
    assert [question.id for question in store.facts(Question, since=1)] == ["b"]
    assert store.facts(Question, since=2) == []


@pytest.mark.parametrize(
    "twice", [[Item(id="a")], [label("a", "k")], [ROUND], [Question(id="a", round=0, rank=0, question="q")]]
)
def test_what_must_occur_once_is_refused_the_second_time_and_nothing_is_kept(store, twice):
    store.append(twice)
    before = store.revision
    with pytest.raises(StoreError, match="there already"):
        store.append([Quarantine(id="new", reason="x"), *twice])
    assert store.facts(Quarantine) == []
    assert store.revision == before


def test_an_append_that_fails_midway_leaves_nothing(store):
    def broken():
        yield Item(id="a")
        raise RuntimeError("the source of facts broke")

    with pytest.raises(RuntimeError):
        store.append(broken())
    assert store.count() == 0
    assert store.revision == 0
    assert store.append([Item(id="a")]) == 1


def test_many_items_are_counted_and_listed_while_a_writer_writes(store):
    store.append(Item(id=f"item-{number}") for number in range(11_000))
    assert store.count() == 11_000
    listed = store.ids()
    found = [next(listed)]
    store.append([Item(id="late")])  # the reader in the middle of its list keeps nobody out
    found += listed
    assert len(set(found)) == 11_000
    assert store.count() == 11_001


def test_an_answer_given_twice_is_stored_once_and_every_annotator_is_kept(store):
    [question] = ask(store, "a", needed=2)
    one = label("a", "k", question=question.question, annotator="ann")
    [first] = store.answer([one])
    assert store.answer([replace(one, label=1), one]) == [first, first]
    [second] = store.answer([replace(one, annotator="ben")])  # it agrees, and is an answer all the same
    [third] = store.answer([replace(one, key="k2", label=1)])
    assert store.facts(Answer) == [first, second, third]
    assert store.facts(Answer, since=first.revision) == [second, third]
    assert store.answer([]) == []
    assert store.answer([label("b", "k"), label("b", "k", 1)])[1].label == 0


def test_an_answer_to_a_question_about_another_item_is_refused(store):
    [question] = ask(store, "a")
    for wrong in (label("b", "k", question=question.question), label("a", "k", question="nobody asked")):
        with pytest.raises(InputError, match="was not asked by a question"):
            store.answer([wrong])
    assert store.facts(Answer) == []


def test_places_follow_every_fact_and_the_policy(store):
    store.append([Item(id=name) for name in "abcdef"])
    questions = {question.id: question.question for question in ask(store, *"abcd")}
    assert store.places() == Places(open=4)
    store.answer([label("a", "1", question=questions["a"]), label("e", "1")])
    store.answer([Answer(id="b", key="1", verdict="skip", question=questions["b"])])
    store.append([Quarantine(id="c", reason="gone")])
    assert store.places() == Places(open=1, labelled=2, skipped=1, quarantined=1)
    store.answer([Answer(id="a", key="2", verdict="retract"), label("b", "2")])
    store.append([Quarantine(id="c", reason=None)])
    assert store.places() == Places(open=2, labelled=2)
    store.append([Policy(policy="resolver")])
    assert store.places() == Places(open=4)
    store.append([Resolution(id="b", verdict="label", label=1)])
    assert store.places() == Places(open=3, labelled=1)
    late = store.touched(store.revision - 1)
    assert [(type(fact), fact.nth) for fact in late["b"]] == [
        (Question, 0),
        (Answer, 1),
        (Answer, 2),
        (Resolution, 3),
    ]
    assert (list(late), store.touched(store.revision)) == (["b"], {})


def test_places_follow_what_becomes_of_classes(store):
    store.append([ClassEdit(edit="add", number=number, name=str(number)) for number in range(4)])
    store.append([Item(id=name) for name in "abcd"])
    store.answer([label(name, "1", number) for number, name in enumerate("abcd")])
    store.append([ClassEdit(edit="merge", number=0, into=(1,))])
    assert store.places() == Places(labelled=4)
    store.append(
        [ClassEdit(edit="split", number=2, into=(1, 3)), ClassEdit(edit="rename", number=1, name="x")]
    )
    assert store.places() == Places(labelled=3)
    store.append([ClassEdit(edit="retire", number=3)])
    assert store.places() == Places(labelled=2)
    store.answer([label("c", "2", 0), label("d", "2", 3)])
    assert store.places() == Places(labelled=3)
    assert Ledger(store).labels == {"a": 1, "b": 1, "c": 1}
    assert Ledger(store).places() == store.places()


def test_a_tie_of_the_majority_is_given_to_one_more_annotator(store):
    store.append([Policy(policy="majority"), *(Item(id=name) for name in "ab")])
    [asked] = ask(store, "a", needed=2)
    for number, name in enumerate(["ann", "ben"]):
        assert store.lease(Taker(name, seconds=60)).question == asked
        store.answer([label("a", "1", number, question=asked.question, annotator=name)])
    assert store.lease(Taker("ann", seconds=60)) is None  # who has answered already is no third opinion
    assert store.lease(Taker("eve", seconds=60)).question == asked
    store.answer([label("a", "1", 1, question=asked.question, annotator="eve")])
    assert (Ledger(store).labels, store.places()) == ({"a": 1}, Places(labelled=1))
    assert store.lease(Taker("dan", seconds=60)) is None


def test_the_last_fact_of_a_kind_is_found_without_the_others(store):
    assert store.last(Item) is None
    store.append([Item(id="a"), Item(id="b"), Group(id="a", group="g")])
    assert store.last(Item) == store.facts(Item)[-1]
    assert store.last(Round) is None


def test_a_fact_on_condition_is_refused_when_anything_came_between(store):
    revision = store.append([Planned(plan={})], expect=0)
    store.append([Item(id="a")])
    with pytest.raises(StaleError, match="is at revision 2, not 1"):
        store.append([ClassEdit(edit="add", number=0, name="cat")], expect=revision)
    with pytest.raises(InputError, match="Round is not appended by an expected revision"):
        store.append([ROUND], expect=store.revision)
    store.append([ClassEdit(edit="add", number=0, name="cat")], expect=store.revision)
    assert len(store.facts(ClassEdit)) == 1


def test_a_question_is_leased_to_as_many_as_it_wants_answers_and_in_order(store):
    ask(store, "a", "b", needed=2)
    first, second = store.lease(Taker("ann", seconds=60)), store.lease(Taker("ann", seconds=60))
    assert (first.question.id, second.question.id) == ("a", "b")
    assert store.lease(Taker("ann", seconds=60)) is None
    assert [store.lease(Taker("ben", seconds=60)).question.id for _ in range(2)] == ["a", "b"]
    assert store.lease(Taker("eve", seconds=60)) is None
    assert len(store.leases()) == 4
    assert len({lease.token for lease in store.leases()}) == 4


def test_an_answer_uses_up_its_place_and_a_correction_does_not_use_another(store):
    [question] = ask(store, "a", needed=2)
    lease = store.lease(Taker("ann", seconds=60))
    for key in ("1", "2"):
        store.answer([label("a", key, annotator="ann", question=question.question)])
    assert store.lease(Taker("ann", seconds=60)) is None
    assert store.renew(lease, seconds=60) is None
    assert store.lease(Taker("ben", seconds=60)).question.question == question.question
    assert store.lease(Taker("eve", seconds=60)) is None


def test_a_lease_that_is_over_goes_to_another_and_the_late_answer_is_kept(store):
    [question] = ask(store, "a")
    late = store.lease(Taker("ann", seconds=-1))
    assert store.leases() == []
    assert store.renew(late, seconds=60) is None
    now = store.lease(Taker("ben", seconds=60))
    assert store.renew(now, seconds=120).until > now.until
    assert store.lease(Taker("ann", seconds=60)) is None
    for who in ("ann", "ben"):
        store.answer([label("a", "1", annotator=who, question=question.question)])
    assert [answer.annotator for answer in store.facts(Answer)] == ["ann", "ben"]
    assert store.lease(Taker("eve", seconds=60)) is None


def test_a_skip_and_a_release_give_the_question_back_behind_the_others_and_cannot_tell_is_final(store):
    questions = {question.id: question.question for question in ask(store, *"abc")}
    first = store.lease(Taker("ann", seconds=60))
    store.answer([Answer(id="a", key="1", verdict="skip", annotator="ann", question=questions["a"])])
    store.release(store.lease(Taker("ann", seconds=60)))
    assert [store.lease(Taker("ann", seconds=60)).question.id for _ in range(3)] == ["c", "a", "b"]
    assert first.question.id == "a"
    said = Answer(id="a", key="2", verdict="cannot_tell", annotator="ann", question=questions["a"])
    store.answer([said])
    assert [lease.question.id for lease in store.leases()] == ["b", "c"]


def test_nobody_is_given_an_item_that_cannot_be_read_or_a_kind_of_question_not_wanted(store):
    ask(store, "a")
    ask(store, "b", kind="test")
    store.append([Quarantine(id="a", reason="gone")])
    assert store.lease(Taker("ann", seconds=60)) is None
    assert store.lease(Taker("ann", seconds=60, kinds=["test"])).question.id == "b"
    store.append([Quarantine(id="a", reason=None)])
    assert store.lease(Taker("ann", seconds=60)).question.id == "a"


def test_threads_answer_and_lease_at_the_same_time_and_nothing_is_lost_or_doubled(store):
    ask(store, *(f"item-{number}" for number in range(60)))
    failures: list[Exception] = []

    def person(name: str) -> None:
        try:
            while (lease := store.lease(Taker(name, seconds=60))) is not None:
                asked = lease.question
                one = label(asked.id, "k", annotator=name, question=asked.question)
                assert store.answer([one]) == store.answer([one])
        except Exception as error:
            failures.append(error)

    people = [threading.Thread(target=person, args=(f"person-{number}",)) for number in range(4)]
    for one in people:
        one.start()
    for one in people:
        one.join()
    assert failures == []
    assert len(store.facts(Answer)) == 60  # nobody was given what another had
    assert store.places() == Places(labelled=60)
    revisions = [answer.revision for answer in store.facts(Answer)]
    assert revisions == sorted(set(revisions))


def saved(text: str):
    def save(folder: Path) -> None:
        folder.mkdir()
        (folder / "w").write_text(text)

    return save


def test_a_store_on_disk_keeps_facts_and_checkpoints_and_one_in_memory_says_it_does_not(store, place):
    names = [store.checkpoint(saved(text), keep=[]) for text in ("1", "2", "1")]
    if store.folder is None:
        assert place is None
        return
    assert names[0] == names[2] != names[1]
    assert [path.name for path in store.folder.iterdir()] == [names[0]]
    assert (store.folder / names[0] / "w").read_text() == "1"
    store.append([Item(id="a")])
    store.close()
    again = open_store(place)
    assert list(again.ids()) == ["a"]
    again.close()


def test_a_second_trainer_is_refused_and_answerers_and_readers_are_welcome(store, place):
    if place is None:
        return
    [question] = ask(store, "a")
    with pytest.raises(StoreError, match="is in use by"):
        open_store(place)
    answerer, reader = open_store(place, access="answer"), open_store(place, access="read")
    assert answerer.lease(Taker("ann", seconds=60)).question == question
    answerer.answer([label("a", "1", annotator="ann", question=question.question)])
    assert store.places() == reader.places() == Places(labelled=1)
    with pytest.raises(StoreError, match="open for answers only"):
        answerer.append([Question(id="b", round=0, rank=0)])
    with pytest.raises(StoreError, match="reading only"):
        reader.answer([label("b", "1")])
    answerer.close()
    reader.close()


def test_a_trainer_of_an_older_epoch_is_refused(store, place):
    if place is None:
        return
    ask(store, "a")
    store._lock.release()  # as if its session had been lost
    later = open_store(place)
    ask(later, "c")
    with pytest.raises(StoreError, match="has another trainer by now"):
        ask(store, "b")
    store.answer([label("b", "1")])  # what somebody said is kept, whoever trains
    assert [question.id for question in store.facts(Question)] == ["a", "c"]
    assert [role.epoch for role in store.facts(Role)] == [1, 2]
    later.close()


def test_with_newest_the_questions_asked_last_come_first_and_those_given_back_at_the_end(store):
    ask(store, "a", "b")
    ask(store, "c", "d")
    first = store.lease(Taker("ann", seconds=60, newest=True))
    assert first.question.id == "c"
    store.release(first)
    assert [store.lease(Taker("ann", seconds=60, newest=True)).question.id for _ in range(4)] == list("dabc")


def test_what_somebody_has_answered_and_wants_another_answer_comes_first_for_the_next(store):
    [asked] = ask(store, "a", needed=2)
    ask(store, "b", "c")
    held = store.lease(Taker("ben", seconds=60, newest=True))
    assert held.question.id == "b"  # the control: an older question that nobody has answered
    store.answer([label("a", "k", question=asked.question, annotator="ann")])
    assert store.lease(Taker("ann", seconds=60, newest=True)).question.id == "c"
    assert store.lease(Taker("ben", seconds=60, newest=True)).question.id == "a"
    assert store.lease(Taker("eve", seconds=60, newest=True)) is None


def test_a_question_takes_the_place_of_an_older_one_that_nobody_holds(store):
    ask(store, "a", "b")
    held = store.lease(Taker("ann", seconds=60))
    ask(store, "b", "a")
    found = store.lease(Taker("ben", seconds=60))
    assert (held.question.id, found.question.id) == ("a", "b")
    assert found.question.revision > held.question.revision
    assert store.lease(Taker("ben", seconds=60)) is None  # the other is shown to ann, by its older question
    store.release(held)
    last = store.lease(Taker("ben", seconds=60))
    assert last.question.id == "a"
    store.answer([label("a", "k", question=last.question.question, annotator="ben")])
    assert store.lease(Taker("eve", seconds=60)) is None  # nor is it asked by the older one again


def test_times_are_those_of_the_appends_and_revisions_that_are_not_there_are_left_out(store):
    before = datetime.now(UTC)
    revision = store.append([Item(id="z")])
    found = store.times({revision, revision + 5})
    assert list(found) == [revision]
    assert before <= datetime.fromisoformat(found[revision]) <= datetime.now(UTC)


def test_leases_are_given_back_and_others_taken_at_once(store):
    ask(store, "a", "b", "c")
    first = store.swap([], Taker("ann", seconds=60), count=2)
    assert [lease.question.id for lease in first] == ["a", "b"]
    second = store.swap(first[:1], Taker("ann", seconds=60), count=5)
    assert [lease.question.id for lease in second] == ["c", "a"]
    assert store.swap(second, Taker("ben", seconds=60), count=0) == []
    assert [lease.question.id for lease in store.leases()] == ["b"]
