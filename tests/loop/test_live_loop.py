"""The loop beside a person: every step takes in what was answered, and asks what is best by then."""

import numpy as np
import pytest

import askwise as aw
from askwise.errors import SlowPathWarning
from askwise.loop import perform
from askwise.loop.calibration import CALIBRATION, LEAST
from askwise.loop.live import AHEAD, CHECKPOINT
from askwise.loop.quality import quality
from askwise.nets import mlp
from askwise.store import open_store
from askwise.store.contract import Taker
from askwise.store.facts import Answer, Asked, Question, Restored, Round
from askwise.store.kept import as_kept

CLASSES = ["low", "high"]
BOTH = ("learn", "test")


@pytest.fixture
def items():
    return np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)


def begun(items, store, **choices):
    usual = {"posterior": "laplace", "acquire": "margin", "initial": 4, "budget": 150, "seed": 0}
    network = mlp(features=3, classes=2, hidden=())
    return aw.Learner(network, pool=aw.pool.arrays(items), classes=CLASSES, store=store, **usual | choices)


@pytest.fixture
def learner(items, tmp_path):
    found = begun(items, tmp_path / "run.db", training={"epochs": 5})
    yield found
    found.close()


class Person:
    """Answers through the leases, as a page does."""

    kinds = ("learn",)

    def __init__(self, learner, items):
        self.store = open_store(learner.store.path, access="answer")
        self._learner, self._items = learner, items

    def answer(self, count, *, only=None):
        """How many labels were given; items of another class than `only` are skipped."""
        told = tried = 0
        while told < count and tried < 30:
            tried += 1
            lease = self.store.lease(Taker("ann", seconds=60, kinds=self.kinds, newest=True))
            if lease is None:
                break
            number = int(self._items[self._learner.item(lease.question.id).row][0] > 0)
            if only is not None and number != only:
                self.store.answer([_answer(lease.question, verdict="skip")])
                continue
            self.store.answer([_answer(lease.question, label=number)])
            told += 1
        return told


@pytest.fixture
def person(learner, items):
    found = Person(learner, items)
    yield found
    found.store.close()


def _answer(asked, *, verdict="label", label=None):
    return Answer(
        id=asked.id,
        key=f"{asked.question}-{verdict}",
        verdict=verdict,
        label=label,
        question=asked.question,
        annotator="ann",
    )


def test_the_first_step_asks_and_the_next_has_nothing_to_do(learner):
    live = learner.live()
    turn = live.step()
    assert turn.fitted is None
    assert len(turn.asked) >= 4
    live.step()
    assert live.step() is None


def test_after_each_answer_there_is_a_model_that_has_seen_it_and_newer_questions(learner, person):
    live = learner.live()
    live.step()
    assert person.answer(4) == 4
    for _ in range(3):
        before = learner.store.revision
        assert person.answer(1) == 1
        turn = live.step()
        assert turn.fitted.seen > before
        assert len(turn.asked) == AHEAD
        assert learner.store.leases() == []
    assert person.store.lease(Taker("ann", seconds=60, newest=True)).question == turn.asked[0]
    assert len(learner.store.facts(Asked)) >= 4


def test_one_class_alone_is_not_learned_from_and_questions_do_not_end(learner, person):
    live = learner.live()
    labels = 0
    for _ in range(3):
        live.step()
        labels += person.answer(5, only=1)
    assert labels > 5
    assert not learner.store.facts(Round)


def test_a_model_is_kept_every_so_many_answers_and_at_the_end(learner, person):
    assert CHECKPOINT == 25
    live = learner.live(checkpoint=4)
    live.step()
    assert person.answer(4) == 4
    for _ in range(7):
        live.step()
        assert person.answer(1) == 1
    kept = [one.labels for one in learner.store.facts(Round) if one.checkpoint]
    assert kept == [4, 8]
    assert len(learner.store.facts(Round)) == 7
    last = live.step().fitted
    assert last.labels == 11
    live.keep()
    assert on_disk(learner) == [4, 8, 11]


def on_disk(learner):
    """The numbers of labels of the models that are on the disk."""
    return [one.labels for one in as_kept(learner.store, learner.store.facts(Round)) if one.checkpoint]


def reopened(learner, items):
    return aw.Learner(
        mlp(features=3, classes=2, hidden=()),
        pool=aw.pool.arrays(items),
        plan=learner.plan,
        store=learner.store.path,
    )


def test_at_the_end_the_model_in_memory_is_kept_and_nothing_is_trained(learner, person, items, recwarn):
    live = learner.live(checkpoint=100)
    for count in (0, 4, 1):
        person.answer(count)
        turn = live.step()
    before = learner.store.facts(Round)
    assert turn.fitted == before[-1]
    assert not turn.fitted.checkpoint  # control: but for its end, nothing keeps this model
    live.keep()
    live.keep()
    assert learner.store.facts(Round) == before
    assert len(learner.store.facts(Restored)) == 1
    learner.close()
    with reopened(learner, items) as again:
        assert again.fitted.digest() == turn.fitted.weights
    assert not [one for one in recwarn if one.category is SlowPathWarning]  # it was not trained again


def test_at_the_end_a_model_is_trained_on_answers_that_the_last_has_not_seen(learner, person):
    live = learner.live(checkpoint=4)
    for count in (0, 4, 1, 2):
        assert person.answer(count) == count
        if count != 2:
            live.step()
    live.keep()
    assert on_disk(learner) == [4, 7]
    person.answer(1)
    live.keep()  # the last model is on the disk, and does not know the last answer
    assert on_disk(learner) == [4, 7, 8]


def test_the_answers_to_the_next_checkpoint_count_from_a_model_that_was_kept_meanwhile(learner, person):
    live = learner.live(checkpoint=4)
    for count in (0, 4, 2):
        person.answer(count)
        live.step()
    live.keep()
    for _ in range(4):
        person.answer(1)
        live.step()
    assert on_disk(learner) == [4, 6, 10]


@pytest.mark.parametrize(("posterior", "again"), [("modal", 1), ("laplace", 0)])
def test_at_the_end_test_answers_that_change_the_temperature_ask_for_another_model(
    items, tmp_path, posterior, again
):
    testing = {"testing": 0.2, "region": 0.4}
    learner = begun(items, tmp_path / "run.db", posterior=posterior, training={"epochs": 5}, **testing)
    live, person = learner.live(checkpoint=1_000), Person(learner, items)
    person.kinds = BOTH
    while answered_tests(learner) < LEAST:
        live.step()
        assert person.answer(12)
    live.step()
    person.kinds = ("test",)
    assert person.answer(1) == 1
    before = learner.store.facts(Round)
    live.keep()
    new = learner.store.facts(Round)[len(before) :]
    assert len(new) == again
    assert [one.metrics[CALIBRATION]["labels"] for one in new] == [answered_tests(learner)] * again
    assert on_disk(learner)[-1] == before[-1].labels
    person.store.close()
    learner.close()


def test_at_the_end_a_model_that_was_not_tested_is_trained_once_more_and_tested(learner, person, monkeypatch):
    setting = learner.setting
    setting.plan = setting.plan.model_copy(update={"testing": 0.2, "region": 0.4})
    monkeypatch.setattr("askwise.loop.live.MOST_TESTED", 0)
    live = learner.live(checkpoint=5)
    for count in (0, 5, 1):
        assert person.answer(count) == count
        live.step()
    tested = ["testing" in one.metrics for one in learner.store.facts(Round)]
    assert tested == [True, False]
    live.keep()
    last = learner.store.facts(Round)[-1]
    assert (last.number, last.labels, "testing" in last.metrics) == (3, 6, True)


def test_what_somebody_looks_at_is_not_asked_anew(learner, person):
    live = learner.live()
    live.step()
    person.answer(4)
    live.step()
    held = [person.store.lease(Taker("ben", seconds=60, newest=True)) for _ in range(3)]
    person.answer(1)
    turn = live.step()
    assert not {lease.question.id for lease in held} & {question.id for question in turn.asked}
    assert len(turn.asked) == AHEAD


def test_no_more_is_asked_than_the_budget_has_room_for(learner, person):
    learner.setting.plan = learner.setting.plan.model_copy(update={"budget": 5})
    live = learner.live()
    live.step()
    for _ in range(5):
        assert person.answer(1) == 1
        live.step()
    before = learner.store.revision
    assert live.step() is None
    assert learner.store.revision == before


def test_guesses_are_the_model_s_own_and_neighbours_are_labelled(learner, person, items):
    live = learner.live()
    assert live.guesses(["nothing"]) == []
    live.step()
    person.answer(4)
    turn = live.step()
    ids = [question.id for question in turn.asked]
    found = live.guesses(ids)
    wanted = learner.predict(ids)
    assert [guess.id for guess in found] == ids
    np.testing.assert_allclose([guess.probabilities for guess in found], wanted.mean, atol=1e-6)
    np.testing.assert_allclose([guess.total for guess in found], wanted.total, atol=1e-6)
    labelled = set(learner.setting.ledger.labels)
    assert all(guess.neighbours and set(guess.neighbours) <= labelled for guess in found)
    rows = {name: items[learner.item(name).row] for name in [*ids, *labelled]}
    for guess in found:
        alike = {name: _cosine(rows[guess.id], rows[name]) for name in labelled}
        assert guess.neighbours[0] == max(alike, key=alike.get)


def _cosine(one, other):
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_a_trainer_that_was_killed_goes_on_with_all_answers(learner, person, items):
    live = learner.live(checkpoint=100)
    live.step()
    for count in (4, 2):
        person.answer(count)
        turn = live.step()
    assert not turn.fitted.checkpoint
    person.answer(3)
    learner.close()
    with reopened(learner, items) as again:
        live = again.live()
        ids = [question.id for question in live.open()]
        with pytest.warns(SlowPathWarning, match="left no model on the disk.*again .* the same to the bit"):
            assert live.guesses(ids)
        assert on_disk(again) == [4, 6]  # nor is it trained a third time
        assert live.step().fitted.labels == 9


def test_of_a_large_part_kept_for_testing_only_models_that_are_kept_are_asked(learner, person, monkeypatch):
    setting = learner.setting
    setting.plan = setting.plan.model_copy(update={"testing": 0.2, "region": 0.4})
    for most, wanted in ((0, [True, False]), (1000, [True, True])):
        monkeypatch.setattr("askwise.loop.live.MOST_TESTED", most)
        live = learner.live(checkpoint=1 if not learner.rounds() else 100)
        live.step()
        noted = []
        for count in (4, 1):
            assert person.answer(count) == count
            noted.append("testing" in live.step().fitted.metrics)
            live._checkpoint = 100
        assert noted == wanted


def test_a_model_that_was_not_tested_is_not_called_no_model(learner, person, monkeypatch):
    setting = learner.setting
    setting.plan = setting.plan.model_copy(update={"testing": 0.2, "region": 0.4})
    monkeypatch.setattr("askwise.loop.live.MOST_TESTED", 0)
    live = learner.live(checkpoint=1)
    live.step()
    told = [quality(setting.plan, setting.testing(), setting.last()).why]
    for count in (4, 1):
        assert person.answer(count) == count
        live.step()
        told.append(quality(setting.plan, setting.testing(), setting.last()).why)
        live._checkpoint = 100
    assert told[0] == "there is no model yet"
    assert told[1].startswith("a band needs at least 10 test answers")
    assert told[2] == "the last model was not tested: the items kept for testing are still being encoded"


def test_what_one_person_has_answered_waits_for_another_and_does_not_stop_the_questions(items, tmp_path):
    several = {"overlap": 1.0, "policy": "majority"}
    learner = begun(items, tmp_path / "run.db", training={"epochs": 2}, **several)
    live, person = learner.live(), Person(learner, items)
    asked = set()
    for _ in range(3):
        asked |= {question.id for question in live.step().asked}
        assert person.answer(30) > 0
    said = [answer.id for answer in person.store.facts(Answer)]
    assert len(said) == len(set(said)) > 2 * AHEAD  # nobody is asked the same again
    person.store.close()
    learner.close()


def answered_tests(learner):
    return learner.setting.testing().tally.answered


def test_of_what_is_answered_one_by_one_the_plan_s_share_tests(learner, person):
    setting = learner.setting
    setting.plan = setting.plan.model_copy(update={"testing": 0.2, "region": 0.4})
    live, person.kinds = learner.live(), BOTH
    live.step()
    for count in range(1, 41):
        assert person.answer(1) == 1
        live.step()
        assert abs(answered_tests(learner) - 0.2 * count) <= 2
    assert answered_tests(learner) >= 7


def answering_meanwhile(monkeypatch, choose):
    """While items are scored somebody does what `choose` does."""
    whole = perform.choose_items

    def choosing(*arguments, **options):
        choose()
        return whole(*arguments, **options)

    monkeypatch.setattr(perform, "choose_items", choosing)


@pytest.mark.parametrize("meanwhile", ["answered", "looked at", "left alone"])
def test_what_was_answered_or_taken_while_items_were_scored_is_not_asked_again(
    learner, person, monkeypatch, meanwhile
):
    setting = learner.setting
    setting.plan = setting.plan.model_copy(update={"testing": 0.2, "region": 0.4})
    live, person.kinds = learner.live(), BOTH
    live.step()
    person.answer(6)
    live.step()
    waiting = {one.kind: one for one in [*live.open(), *setting.testing().open()]}
    person.store.answer([_answer(next(one for one in live.open() if one != waiting["learn"]), label=1)])
    left = list(waiting.values())

    def act():
        while left and meanwhile == "answered":
            person.store.answer([_answer(left.pop(), label=1)])
        while meanwhile == "looked at" and person.store.lease(Taker("ann", 60, kinds=BOTH)):
            pass

    answering_meanwhile(monkeypatch, act)
    asked = {one.id for one in live.step().asked}
    again = {kind for kind, one in waiting.items() if one.id in asked}
    assert sorted(waiting) == ["learn", "test"]
    # control: what nobody has touched is asked again, a test question always
    assert again == set() if meanwhile != "left alone" else "test" in again


def test_a_test_question_that_waits_for_a_second_answer_is_not_asked_anew(items, tmp_path):
    several = {"needed": 2, "policy": "majority", "testing": 0.2, "region": 0.4}
    learner = begun(items, tmp_path / "run.db", training={"epochs": 2}, **several)
    live, person = learner.live(), Person(learner, items)
    person.kinds = BOTH
    for _ in range(3):
        live.step()
        assert person.answer(30) > 0
    said = [answer.id for answer in person.store.facts(Answer)]
    kinds = {one.kind for one in person.store.facts(Question)}
    assert len(said) == len(set(said)) > 2 * AHEAD
    assert kinds == {"learn", "test"}
    person.store.close()
    learner.close()
