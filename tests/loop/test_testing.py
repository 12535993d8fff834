"""Test questions: from a region that is never trained on, mixed in, and counted in the budget."""

import numpy as np
import pytest
import task_runs
from small_run import CLASSES, IDS, POINTS, TRUTH, learner, ledger, pool

from askwise.errors import InputError
from askwise.loop import saying
from askwise.loop.decide import Ask, Counts, Stop, Train, Wait, decide
from askwise.loop.plan import make
from askwise.loop.quality import marks
from askwise.store.contract import Taker
from askwise.store.facts import CANNOT_TELL, RETRACT, SKIP, Answer, Group, Question, Snapshot

TESTED = {"test": None, "testing": 0.25, "region": 0.5, "budget": 24, "batch": 4}
_RNG = np.random.default_rng(1)
MANY = _RNG.integers(0, 3, size=300)
CLOUD = (np.eye(3)[MANY] @ _RNG.normal(size=(3, 4)) * 3 + _RNG.normal(size=(300, 4))).astype(np.float32)
NAMES = [f"cloud-{number:03d}" for number in range(300)]
TOLD = {name: CLASSES[label] for name, label in zip(NAMES, MANY, strict=True)}


def cloud(store=None, **changes):
    groups = changes.pop("store_groups", None)
    run = learner(store, **{"pool": pool(CLOUD, NAMES), **TESTED, "budget": 60} | changes)
    if groups is not None:  # so many items alike make a group
        run.store.append([Group(id=name, group=f"g{n // groups}") for n, name in enumerate(NAMES)])
    return run


def asked(run, kind):
    return [fact.id for fact in run.store.facts(Question) if fact.kind == kind]


def region(run):
    return set(run.setting.testing().order())  # also before the first question, unlike kept_for_testing()


def test_test_questions_come_from_the_region_and_all_others_do_not():
    with learner(**TESTED) as run:
        kept = region(run)
        assert 10 <= len(kept) <= 30
        run.run(oracle=TRUTH)
        assert asked(run, "test")
        assert set(asked(run, "test")) <= kept
        assert not set(asked(run, "learn")) & kept


def test_test_answers_are_never_trained_on_and_count_in_the_budget():
    with learner(**TESTED) as run:
        end = run.run(oracle=TRUTH)
        counts = run.status().counts
        assert end == Stop("the budget of 24 labels is spent")
        assert counts.labelled + counts.tested == 24
        assert run.rounds()[-1].labels == counts.labelled == len(ledger(run).labels)
        assert all(
            shot.count == one.labels
            for shot, one in zip(run.store.facts(Snapshot), run.rounds(), strict=True)
        )
        assert not set(ledger(run).labels) & set(asked(run, "test"))
        assert counts.items == 40


def test_a_quarter_of_the_questions_test_if_the_plan_says_so():
    with cloud() as run:
        run.run(oracle=TOLD)
        tests, others = len(asked(run, "test")), len(asked(run, "learn"))
        assert abs(tests / (tests + others) - 0.25) < 0.03


def test_test_questions_look_like_any_other():
    with cloud() as run:
        run.tell({q.id: TOLD[q.id] for q in run.ask()})
        questions = run.ask()
        kinds = {fact.id: fact.kind for fact in run.store.facts(Question)}
        assert {kinds[q.id] for q in questions} == {"test", "learn"}
        assert all(q.score is not None and q.guess in CLASSES for q in questions)
        assert [q.rank for q in questions] == list(range(len(questions)))
        assert not any("test" in f"{vars(q)}".replace(q.id, "") for q in questions)


def test_test_questions_are_not_always_at_the_same_place():
    with cloud(batch=8, budget=100) as run:
        run.run(oracle=TOLD)
        ranks = {fact.rank for fact in run.store.facts(Question) if fact.kind == "test" and fact.round}
        assert len(ranks) > 4


def test_the_region_depends_on_seed_and_id_alone_and_stays_when_the_seed_of_the_plan_changes(folder):
    with learner(folder / "one.db", **TESTED) as run:
        kept = region(run)
    with learner(folder / "one.db", **TESTED | {"seed": 6}) as run:
        assert region(run) == kept
    with learner(pool=pool(POINTS[:40][::-1].copy(), IDS[:40][::-1]), **TESTED) as run:
        assert region(run) == kept
    with learner(**TESTED | {"seed": 6}) as run:
        assert region(run) != kept


def test_test_items_are_drawn_uniformly_from_the_region():
    places = []
    for seed in range(40):
        with learner(seed=seed, **TESTED) as run:
            places += [IDS.index(name) for name in run.setting.testing().next(3)]
    counts = np.histogram(places, bins=4, range=(0, 40))[0]
    assert counts.sum() == 120
    assert counts.min() >= 15  # of 30 expected in each quarter of the pool


def test_without_testing_nothing_is_kept_and_a_test_set_turns_it_off():
    with learner(testing=0.0, test=None) as run:
        assert not region(run)
    with learner(testing=0.2) as run:  # it has a test set
        assert not region(run)
        run.run(oracle=TRUTH)
        assert not asked(run, "test")


def test_skipped_and_unclear_test_items_are_not_asked_again_and_count_as_skipped():
    def answer(question):
        return SKIP if question.id in kept else TRUTH[question.id]

    with learner(**TESTED) as run:
        kept = region(run)
        run.run(oracle=answer)
        found = run.status()
        assert found.counts.tested == 0
        assert found.counts.skipped == found.quality.skipped == len(asked(run, "test")) > 0
        assert len(set(asked(run, "test"))) == len(asked(run, "test"))


def test_an_exhausted_rest_ends_the_asking_and_the_region_stays():
    with learner(**TESTED | {"budget": 1000}) as run:
        end = run.run(oracle=TRUTH)
        assert end == Stop("every item is labelled, skipped, quarantined or kept for testing")
        counts = run.status().counts
        assert counts.unlabelled == counts.open == 0
        assert counts.region > 0
        assert counts.labelled == 40 - len(region(run))


def test_an_exhausted_region_leaves_all_questions_to_learning():
    with learner(**TESTED | {"budget": 1000, "region": 0.3, "testing": 0.5}) as run:
        assert run.run(oracle=TRUTH) == Stop("every item is labelled, skipped or quarantined")
        assert run.status().counts.region == 0


def test_a_test_answer_can_be_corrected_and_taken_back():
    with cloud() as run:
        questions = run.ask()
        test = next(q.id for q in questions if q.id in region(run))
        run.tell({test: "red"})
        assert run.status().counts.tested == 1
        run.tell({test: "blue"})
        assert [one.label for one in run.setting.testing().tested()] == [2]
        run.tell({test: RETRACT})
        assert run.status().counts.tested == 0
        assert test in [q.id for q in run.ask()]
        run.tell({test: CANNOT_TELL})
        assert test not in [q.id for q in run.ask()]


def test_every_answer_to_a_test_item_names_its_question():
    with cloud() as run:
        run.run(oracle=TOLD)
        kind = {fact.question: fact.kind for fact in run.store.facts(Question)}
        for fact in run.store.facts(Answer):
            assert (kind[fact.question] == "test") == (fact.id in set(asked(run, "test")))


def test_labels_known_beforehand_are_learned_from_and_their_items_leave_the_region():
    with learner(**TESTED) as run:
        first = sorted(region(run))[:3]
        run.tell({name: TRUTH[name] for name in first}, annotator="imported")
        assert not region(run) & set(first)
        run.ask()
        late = run.setting.testing().next(1)[0]
        with pytest.raises(InputError, match="kept for testing, so it is not learned from"):
            run.tell({late: TRUTH[late]})


def test_what_is_kept_cannot_be_changed_once_questions_were_asked(folder):
    with learner(folder / "moved.db", **TESTED) as run:
        run.ask()
    with pytest.raises(InputError, match=r"began with 0\.5"):
        learner(folder / "moved.db", **TESTED | {"region": 0.4})
    with learner(folder / "off.db", test=None) as run:
        run.ask()
    with pytest.raises(InputError, match="began with 0; items that were learned from cannot test"):
        learner(folder / "off.db", **TESTED)


def test_groups_are_whole_in_the_region_and_each_is_met_before_one_is_met_again():
    with cloud() as run:
        groups = {name: f"slide {place // 10}" for place, name in enumerate(NAMES)}
        run.store.append([Group(id=name, group=group) for name, group in groups.items()])
        kept = region(run)
        slides = {groups[name] for name in kept}
        assert kept == {name for name in NAMES if groups[name] in slides}
        assert 5 <= len(slides) <= 25
        first = [groups[name] for name in run.setting.testing().order()[: len(slides)]]
        assert set(first) == slides
        run.run(oracle=TOLD)
        assert run.status().quality.answers >= 10


def test_the_band_holds_the_true_accuracy_and_is_made_from_the_store_alone(folder):
    with cloud(folder / "band.db") as run:
        run.run(oracle=TOLD)
        found = run.status().quality
        kept = sorted(region(run))
        truth = np.mean(
            [
                CLASSES[guess] == TOLD[name]
                for name, guess in zip(kept, run.predict(kept).mean.argmax(1), strict=True)
            ]
        )
        assert found.answers == 15
        assert found.accuracy.low <= truth <= found.accuracy.high
        assert found.recalls.balanced.low <= found.accuracy.high


def test_test_answers_are_scored_again_with_each_new_model():
    with cloud() as run:
        run.run(oracle=TOLD)
        first, *_, last = [one.metrics["testing"]["items"] for one in run.rounds()]
        both = first.keys() & last.keys()
        assert both
        assert {name: first[name][1] for name in both} != {name: last[name][1] for name in both}
        assert set(asked(run, "test")) <= last.keys()


def test_after_a_merge_guesses_count_as_labels_do_and_recall_knows_the_classes_in_use():
    with cloud(budget=120) as run:
        run.run(oracle=TOLD)
        before, items = run.status().quality, run.rounds()[-1].metrics["testing"]["items"]
        run.merge("blue", into="green")
        found = run.status().quality  # by the model from before the merge
        now = {"red": 0, "green": 1, "blue": 1}
        right = [(items[name][0] > 0) == (now[TOLD[name]] > 0) for name in asked(run, "test")]
        assert found.accuracy.share == pytest.approx(np.mean(right))
        assert found.accuracy.low >= before.accuracy.low
        assert found.recalls.classes[2] is None
        assert found.recalls.balanced.low > before.recalls.balanced.low
        run.merge("green", into="red")  # one class is left, and has no recall
        found = run.status().quality
        assert (found.accuracy.share, found.recalls) == (1, None)


def test_a_stop_rule_acts_on_the_stricter_lower_limit():
    with cloud(until=0.6, budget=300) as run:
        end = run.run(oracle=TOLD)
        assert isinstance(end, Stop)
        assert "lower limit" in end.reason
        assert "60 % was wanted" in end.reason
        found = run.setting
        strict = marks(found.testing(), found.last()).band(stopping=True)
        assert 0.6 <= strict.low < marks(found.testing(), found.last()).band().low
        assert run.status().next.startswith("stop: the accuracy's lower limit")


def test_stable_predictions_end_a_run():
    with cloud(stable=0.9, budget=300) as run:
        end = run.run(oracle=TOLD)
        assert "predictions are stable" in end.reason
        changed = [one.metrics["testing"]["changed"][-1] for one in run.rounds()]
        assert changed[0] is None  # the first model has none before it
        assert len(changed) >= 4
        assert max(changed[-3:]) < 0.9


def test_a_small_gain_by_forecast_ends_a_run_and_is_called_a_forecast():
    with cloud(gain=0.5, budget=300) as run:
        end = run.run(oracle=TOLD)
        assert end.reason.startswith("by a forecast the next 50 labels should bring")
        assert end.reason.endswith("points, less than 50")
        assert len(run.rounds()) == 5  # the fewest trainings that a forecast rests on
        told = [line for _, line in saying.said(run.status().quality, CLASSES)]
        assert sum("a forecast" in line and "the next 50 labels should bring" in line for line in told) == 1
    with cloud(budget=30) as run:  # the control
        assert run.run(oracle=TOLD) == Stop("the budget of 30 labels is spent")


@pytest.mark.parametrize("rule", ["until", "stable", "gain"])
def test_stop_rules_need_test_questions_and_classes(rule):
    with pytest.raises(InputError, match=rf"{rule} in the plan needs test questions; add testing = 0\.2"):
        make({"classes": 2, rule: 0.9})
    with pytest.raises(InputError, match=f"{rule} in the plan needs one class per item, and the task is reg"):
        make({"task": "regression", "testing": 0.2, rule: 0.9})


def test_with_groups_the_band_counts_groups_not_answers():
    with cloud(budget=100, draws=2, batch=50, store_groups=10) as run:
        run.run(oracle=TOLD)
        tests = asked(run, "test")
        slides = {NAMES.index(name) // 10 for name in tests}
        assert len(slides) < len(tests)
        found = run.status().quality
        assert (found.accuracy.groups, found.accuracy.answers) == (len(slides), len(tests))
        assert saying.measured_on(found.accuracy) == f"{len(tests)} test answers of {len(slides)} groups"
        [said] = [line for head, line in saying.said(found, CLASSES) if head]
        assert f"of {len(tests)} test answers, as a mean over {len(slides)} groups, are right" in said
    with cloud(budget=100, draws=2, batch=50) as run:  # the control: without groups every answer counts
        run.run(oracle=TOLD)
        assert run.status().quality.accuracy.answers == len(asked(run, "test"))


def test_the_mean_of_a_number_is_estimated_from_test_answers():
    told = {name: 10 + 2 * float(row[0]) for name, row in zip(NAMES, CLOUD, strict=True)}
    changes = {
        "test": None,
        "testing": 0.5,
        "region": 0.5,
        "budget": 60,
        "batch": 40,
        "initial": 20,
        "draws": 3,
    }
    with task_runs.learner("regression", pool=pool(CLOUD, NAMES), **changes) as run:
        run.run(oracle=told)
        truth = np.mean([told[name] for name in region(run)])
        halves = {name: "even" if place % 2 else "odd" for place, name in enumerate(NAMES)}
        whole, *parts = run.estimate("value", parts=halves, width=0.01)
        assert whole.estimate.low <= truth <= whole.estimate.high
        assert whole.estimate.answers == len(asked(run, "test"))
        assert whole.more > 0
        assert [one.part for one in parts] == ["even", "odd"]
        with pytest.raises(InputError, match="the number to estimate"):
            run.estimate("weight")


def test_answers_to_every_test_question_still_leave_the_share_of_the_pool_uncertain():
    with cloud() as run:
        run.run(oracle=TOLD)
        kept = len(region(run))
        while questions := run.ask_tests(50):
            run.tell({one.id: TOLD[one.id] for one in questions})
        [share] = run.estimate(CLASSES[0], width=0.01)
        assert share.estimate.answers == share.estimate.pool == kept < share.estimate.population == 300
        truth = list(TOLD.values()).count(CLASSES[0]) / 300
        assert share.estimate.low <= truth <= share.estimate.high
        assert share.more == 0
        assert share.estimate.high - share.estimate.low > 0.05
        halves = {name: "even" if place % 2 else "odd" for place, name in enumerate(NAMES)}
        assert [one.estimate.population for one in run.estimate(CLASSES[0], parts=halves)] == [300, 150, 150]


def test_with_groups_an_estimate_counts_them_and_says_what_kind_of_interval_it_is():
    with cloud(store_groups=10, budget=100, draws=2, batch=50) as run:
        run.run(oracle=TOLD)
        [share] = run.estimate(CLASSES[0])
        slides = {NAMES.index(name) // 10 for name in asked(run, "test")}
        assert share.estimate.answers == len(slides)
        assert share.estimate.population == 30
        assert "mean over groups" in share.estimate.interval
        truth = list(TOLD.values()).count(CLASSES[0]) / 300
        assert share.estimate.low <= truth <= share.estimate.high


SPENT = Stop("the budget of 20 labels is spent")
REST = Stop("every item is labelled, skipped, quarantined or kept for testing")
BEGUN = {"unlabelled": 62, "region": 28, "asked": 10, "asked_to_test": 2}
ANSWERED = BEGUN | {"labelled": 8, "tested": 2}
LATE = {"unlabelled": 9, "region": 9, "rounds": 1}
DECISIONS = {
    "tests come on top of the initial items": ({"unlabelled": 70, "region": 30}, Ask(8, 2)),
    "open test questions are waited for": (BEGUN | {"open": 10}, Wait(10)),
    "test answers alone are nothing new to learn": (ANSWERED | {"rounds": 1}, Ask(4, 1)),
    "answers to learn from are": (ANSWERED | {"unseen": 8}, Train()),
    "an exhausted region leaves all to learning": (ANSWERED | {"rounds": 1, "region": 0}, Ask(5)),
    "the last question may be a test": (
        LATE | {"labelled": 17, "tested": 2, "asked": 19, "asked_to_test": 2},
        Ask(0, 1),
    ),
    "test answers count in the budget": (LATE | {"labelled": 16, "tested": 4, "asked": 20}, SPENT),
    "an exhausted rest ends the asking": (LATE | {"unlabelled": 0, "labelled": 4}, REST),
    "a stop rule ends the asking": (LATE | {"labelled": 4, "enough": "it is good"}, Stop("it is good")),
    "but not while questions are open": (LATE | {"labelled": 4, "open": 1, "enough": "it is good"}, Wait(1)),
}


@pytest.mark.parametrize("case", DECISIONS)
def test_the_decision_with_test_questions(case):
    plan = make({"classes": 2, "batch": 5, "budget": 20, "initial": 8, "testing": 0.2})
    counts, action = DECISIONS[case]
    assert decide(plan, Counts(**counts)) == action


def test_five_questions_of_one_hold_one_test():
    plan = make({"classes": 2, "batch": 1, "budget": 100, "initial": 1, "testing": 0.2})
    counts, kinds = Counts(unlabelled=70, region=30, labelled=1, rounds=1), ""
    for place in range(20):
        action = decide(plan, counts)
        kinds += "t" if action.tests else "l"
        counts = Counts(
            unlabelled=70, region=30, labelled=1, rounds=1, asked=place + 1, asked_to_test=kinds.count("t")
        )
    assert kinds == "lllltlllltlllltllllt"


def test_an_answer_given_with_the_models_guess_in_view_is_none():
    with cloud() as run:
        test = next(fact for q in run.ask() for fact in run.store.facts(Question) if fact.kind == "test")
        seen = Answer(
            id=test.id,
            key="k",
            verdict="label",
            label=1,
            question=test.question,
            annotator="a",
            assisted=True,
        )
        run.store.answer([seen])
        assert [(one.id, one.label) for one in run.setting.testing().tested()] == [(test.id, None)]


def test_a_test_item_that_wants_two_answers_waits_for_both():
    with cloud(needed=2, policy="majority") as run:
        test = next(fact.id for q in run.ask() for fact in run.store.facts(Question) if fact.kind == "test")
        run.tell({test: "red"}, annotator="a")
        assert not run.setting.testing().tested()
        run.tell({test: "red"}, annotator="b")
        assert [one.label for one in run.setting.testing().tested()] == [0]


def test_a_last_word_settles_the_answers_to_a_test_question_and_is_not_learned_from():
    with cloud(needed=2, policy="majority") as run:
        test = next(fact.id for q in run.ask() for fact in run.store.facts(Question) if fact.kind == "test")
        run.tell({test: "red"}, annotator="a")
        run.tell({test: "blue"}, annotator="b")
        assert [one.label for one in run.setting.testing().tested()] == [None], "a tie waits"
        run.resolve({test: "blue"}, annotator="c")
        assert [one.label for one in run.setting.testing().tested()] == [CLASSES.index("blue")]
        assert test not in ledger(run).labels


def test_test_items_on_which_people_disagree_count_as_skipped_until_that_is_settled():
    with cloud(needed=2, policy="majority", budget=120, batch=40, draws=2) as run:
        for _ in range(3):
            questions = run.ask()
            kept = region(run)
            for place, one in enumerate(questions):
                other = SKIP if place % 2 else CLASSES[CLASSES.index(TOLD[one.id]) - 1]
                run.tell({one.id: TOLD[one.id]}, annotator="a")
                run.tell({one.id: other if one.id in kept and place % 3 else TOLD[one.id]}, annotator="b")
        found = run.status()
        test = run.setting.testing()
        waiting = [one.question for one in test.open()]
        assert waiting
        assert found.quality.skipped == test.tally.unsettled == len(waiting) == test.tally.open
        assert found.quality.accuracy.skipped == len(waiting) / len(test.trials)
        assert found.counts.open == len(waiting)  # somebody can still settle them
        right = found.quality.accuracy
        run.resolve({one.id: TOLD[one.id] for one in test.open()}, annotator="c")
        found = run.status().quality
        assert (found.skipped, found.accuracy.skipped, found.answers) == (0, 0, len(test.trials))
        assert right.low < found.accuracy.low <= found.accuracy.high <= right.high


def test_fewer_than_ten_test_answers_give_no_estimate():
    few = {"testing": 0.5, "region": 0.5, "test": None, "budget": 16, "batch": 8}
    with task_runs.learner("regression", **few) as run:
        run.run(oracle=task_runs.TRUTH["regression"])
        found = run.status().quality
        assert 0 < found.answers < 10
        assert found.estimates == {}
        assert found.why == "there is no band for regression, and estimates need 10 test answers"


@pytest.mark.parametrize("task", task_runs.TASKS)
def test_every_task_is_tested_and_what_has_no_promise_is_called_an_estimate(task):
    choices = {"testing": 0.5, "region": 0.5, "test": None, "budget": 30, "batch": 10}
    with task_runs.learner(task, **choices) as run:
        run.run(oracle=task_runs.TRUTH[task])
        found = run.status().quality
        assert found.answers >= 10
        if task == "classification":
            assert found.accuracy is not None
        elif task == "multilabel":
            assert list(found.tags) == task_runs.TAGS
            assert all(0 <= one.low <= one.high <= 1 and one.alpha == 0.05 / 3 for one in found.tags.values())
        else:
            assert found.accuracy is None
            assert found.why == f"there is no band for {task}"
        first = {"regression": "rmse", "segmentation": "mean_iou", "multilabel": "f1_micro"}.get(task)
        assert first is None or first in found.estimates
        model, answers, _ = run.finish()
        assert answers == 30
        assert model.task.name == task


def test_the_share_of_a_tag_can_be_estimated():
    choices = {"testing": 0.5, "region": 0.5, "test": None, "budget": 30, "batch": 10}
    with task_runs.learner("multilabel", **choices) as run:
        run.run(oracle=task_runs.TRUTH["multilabel"])
        [share] = run.estimate("joy")
        truth = task_runs.LABELS["multilabel"][:40, 0].mean()
        assert share.estimate.low <= truth <= share.estimate.high
        with pytest.raises(InputError, match="a certificate needs one class per item"):
            run.certify(error=0.05)


def test_an_item_that_was_checked_before_still_answers_as_a_test():
    with cloud() as run:
        run.run(oracle=TOLD)
        before, name = len(run.setting.testing().tested()), run.setting.testing().next(1)[0]
        run.store.append([Question(id=name, round=1, rank=0, question="c", kind="check")])
        label = CLASSES.index(TOLD[name])
        run.store.answer(
            [Answer(id=name, key="k", verdict="label", label=label, question="c", annotator="a")]
        )
        run.ask_tests(1)
        run.tell({name: TOLD[name]}, annotator="a")
        assert len(run.setting.testing().tested()) == before + 1
        assert not run.setting.testing().open()


def test_beside_a_person_test_questions_are_mixed_in_as_answers_come():
    with cloud(budget=40, training={"epochs": 1}) as run:
        live, kinds = run.live(), []
        for number in range(24):
            live.step()
            lease = run.store.lease(Taker("a", seconds=60, kinds=("learn", "test"), newest=True))
            kinds.append(lease.question.kind)
            told = {"verdict": "label", "label": CLASSES.index(TOLD[lease.question.id])}
            asked = {"id": lease.question.id, "question": lease.question.question}
            run.store.answer([Answer(key=f"k{number}", annotator="a", **asked, **told)])
        assert 4 <= kinds.count("test") <= 8
        assert "test" in kinds[:8]
        assert len(run.setting.testing().tested()) == kinds.count("test")
        assert not region(run) & ledger(run).labels.keys()


def test_a_region_too_small_for_a_band_is_refused():
    with pytest.raises(InputError, match=r"0\.2 of 40 items are fewer than the 10 that a band needs"):
        learner(**TESTED | {"region": 0.2})
