"""What a round notes of test questions, and what came since, tell the same as the whole history."""

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from threading import Barrier

import pytest
import task_runs
from small_run import CLASSES, learner
from test_testing import CLOUD, NAMES, TESTED, TOLD, cloud

from askwise.loop import noted, saying, setting, testing
from askwise.loop.perform import train_round
from askwise.loop.plan import make
from askwise.loop.status import status
from askwise.loop.tally import Tally
from askwise.pool import arrays
from askwise.store import open_store
from askwise.store.contract import Taker
from askwise.store.facts import (
    CANNOT_TELL,
    RETRACT,
    SKIP,
    Answer,
    ClassEdit,
    Group,
    Policy,
    Quarantine,
)
from askwise.store.ledger import Ledger


@pytest.fixture
def whole(monkeypatch):
    """A status by the whole history, and whether the short one rests on a note."""

    def read(store):
        short = status(store)
        with monkeypatch.context() as patch:
            patch.setattr(setting, "noted_tests", lambda *_: None)
            return short, status(store)

    return read


def lives(run, rng, steps, said):
    """A run in which answers are given, left out, changed, taken back, settled, and items turn out bad."""
    for step in range(steps):
        for name in [one.id for one in run.ask()]:
            if step % 3 or rng.random() < 0.6:  # answered by two where two are wanted
                run.tell({name: TOLD[name]}, annotator="a")
                run.tell({name: TOLD[name]}, annotator="b")
                said[name] = TOLD[name]
        for name in rng.sample(sorted(said), min(3, len(said))):
            again = said[name] is not RETRACT and rng.random() < 0.3
            value = RETRACT if again else rng.choice([TOLD[name], "red", "blue", SKIP, CANNOT_TELL])
            said[name] = value
            run.tell({name: value}, annotator=rng.choice("ab"))
        tests = [one for one in run.setting.testing().trials if run.setting.testing().answers(one)]
        if tests and step % 4 == 2:
            run.resolve({rng.choice(tests): "green"}, annotator="c")
        if step % 5 == 3:
            bad = rng.choice(NAMES)
            run.store.append([Quarantine(id=bad, reason="broken")])
            if rng.random() < 0.5:
                run.store.append([Quarantine(id=bad, reason=None)])
        yield


@pytest.mark.parametrize("seed", range(4))
def test_a_status_by_a_note_is_that_of_the_whole_history(seed, whole):
    rng, notes = random.Random(seed), 0
    policy = {"policy": "majority", "needed": 2} if seed % 2 else {}
    with cloud(budget=200, retrain_after=3, refill_at=20, **policy) as run:
        for _ in lives(run, rng, 14, {}):
            short, full = whole(run.store)
            assert short == full
            notes += setting.tests_alone(run.store, run.plan) is not None
        assert full.counts.tested > 3
    assert notes > 8


def test_the_note_alone_would_be_wrong_as_soon_as_something_is_said(whole, monkeypatch):
    """The control: what came since is left out."""
    with cloud(budget=200) as run:
        lived = list(lives(run, random.Random(0), 6, {}))
        monkeypatch.setattr(type(run.store), "touched", lambda *_: {})
        short, full = whole(run.store)
    assert lived
    assert short.counts != full.counts


@pytest.mark.parametrize("task", task_runs.TASKS)
def test_every_task_has_its_note(task, whole):
    choices = {"testing": 0.5, "region": 0.5, "test": None, "budget": 30, "batch": 10}
    with task_runs.learner(task, **choices) as run:
        run.tell({one.id: task_runs.TRUTH[task][one.id] for one in run.ask()})
        questions = run.ask()
        run.tell({one.id: task_runs.TRUTH[task][one.id] for one in questions[:6]})
        assert isinstance(setting.tests_alone(run.store, run.plan), noted.Noted)
        short, full = whole(run.store)
        assert short == full
        assert short.counts.tested > 0


def test_a_note_serves_until_classes_policy_or_groups_change_and_from_the_next_model_on(whole):
    with cloud() as run:
        run.tell({one.id: TOLD[one.id] for one in run.ask()})
        run.ask()
        for fact, lasts in (
            (ClassEdit(edit="rename", number=1, name="verdant"), True),
            (ClassEdit(edit="merge", number=2, into=(0,)), False),
            (Policy(policy="majority"), False),
            (Group(id=NAMES[0], group="first"), False),
        ):
            run.store.append([fact])
            assert (setting.tests_alone(run.store, run.plan) is not None) == lasts
            short, full = whole(run.store)
            assert short == full


def test_items_that_came_later_are_counted_in_or_out_of_the_region(whole):
    with cloud(pool=arrays(CLOUD[:200], ids=NAMES[:200])) as run:
        run.tell({one.id: TOLD[one.id] for one in run.ask()})
        run.ask()
        before = run.status().counts
        run.add(arrays(CLOUD[200:], ids=NAMES[200:]))
        short, full = whole(run.store)
        assert short == full
        assert before.region < short.counts.region < before.region + 100


def test_after_items_were_added_the_band_takes_the_beginning_of_the_order_that_was_asked(tmp_path, whole):
    changes = {"pool": arrays(CLOUD[:150], ids=NAMES[:150]), "testing": 0.4, "draws": 2}
    with cloud(tmp_path / "grown.db", budget=70, **changes) as run:
        run.run(oracle=TOLD)
        run.add(arrays(CLOUD[150:], ids=NAMES[150:]))
        found = run.status().quality
        assert found.added == sum(name in NAMES[150:] for name in run.setting.testing().order()) > 10
        said = [line for _, line in saying.said(found, CLASSES)]
        assert sum("the band speaks of the earlier ones" in line for line in said) == 1
        run.setting.plan = make(run.plan.model_dump() | {"until": 0.01})
        assert "lower limit" not in run.setting.refresh().enough  # it would speak of the earlier items alone
        fresh = [name for name in NAMES[150:] if name not in run.setting.testing()]
        run.tell({name: TOLD[name] for name in fresh[:5]})
        train_round(run.setting)
        short, full = whole(run.store)
        assert short.quality == full.quality
        assert (short.quality.accuracy, short.quality.added) == (None, 0)
        assert "test answers count again as soon as the new items" in short.quality.why
        while run.status().quality.accuracy is None:
            run.tell({one.id: TOLD[one.id] for one in run.ask_tests(3)})
        counted = run.status().quality.accuracy.answers
        order, asked = run.setting.testing().order(), run.setting.testing().trials
        beginning = list(takewhile(lambda name: name in asked, order))
        assert 10 <= counted == len(beginning) < len(asked)
        assert run.estimate(CLASSES[0])[0].estimate.answers == counted
        short, full = whole(run.store)
        assert short.quality == full.quality
        assert run.setting.refresh().enough.startswith("the accuracy's lower limit")  # the control


def test_a_model_that_was_not_tested_leaves_the_note_of_an_older_one(tmp_path, whole, monkeypatch):
    from askwise.loop import live

    monkeypatch.setattr(live, "MOST_TESTED", 0)  # only models that are kept on the disk are tested
    with cloud(tmp_path / "live.db", budget=60, training={"epochs": 1}) as run:
        beside = run.live(checkpoint=10)
        for number in range(40):
            beside.step()
            one = run.store.lease(Taker("a", seconds=60, kinds=("learn", "test"), newest=True)).question
            asked = {"id": one.id, "question": one.question, "key": f"k{number}", "annotator": "a"}
            run.store.answer([Answer(verdict="label", label=CLASSES.index(TOLD[one.id]), **asked)])
            tested = [noted.TESTING in one.metrics for one in run.rounds()]
            if any(tested[1:]) and not tested[-1]:
                break
        assert not tested[-1]
        found = noted.last_tested(run.store)
        assert found.number == max(n for n, yes in enumerate(tested, 1) if yes)
        short, full = whole(run.store)
        assert short == full


def test_a_status_reads_what_is_new_and_not_what_is_old(tmp_path, read):
    rows = {}
    for budget in (40, 120):
        with cloud(tmp_path / f"{budget}.db", budget=budget) as run:
            run.run(oracle=TOLD)
        store = open_store(tmp_path / f"{budget}.db", access="read")
        read.clear()
        assert status(store).counts.tested + status(store).counts.labelled == budget
        rows[budget] = sum(read)
        store.close()
    assert rows[120] <= rows[40] + 4
    assert rows[120] < 40


def test_tallies_add_and_subtract():
    one, other = Tally(1, 2, 3, 4, 5, 6, 7), Tally(7, 6, 5, 4, 3, 2, 1)
    assert one + other == Tally(8, 8, 8, 8, 8, 8, 8)
    assert (one + other) - other == one


def test_without_test_questions_there_is_no_note():
    with learner(test=None) as run:
        run.tell({one.id: "red" for one in run.ask()})
        assert not any(noted.TESTING in one.metrics for one in run.rounds())
    with learner(**TESTED) as run:  # the control
        run.tell({one.id: TOLD.get(one.id, "red") for one in run.ask()})
        run.ask()
        assert noted.TALLY in run.rounds()[-1].metrics[noted.TESTING]


def test_threads_that_refresh_at_once_count_every_item_once():
    with cloud(budget=120) as run:
        run.run(oracle=TOLD)
        shared, alone = (testing.Testing(run.store, Ledger(run.store), run.plan.kept) for _ in range(2))
        barrier = Barrier(8)

        def refreshed(_):
            barrier.wait()
            return shared.refresh(iter(NAMES), len(NAMES))

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(refreshed, range(8)))
        assert shared.tally == alone.refresh(iter(NAMES), len(NAMES)).tally
        assert shared.tally.asked > 10
