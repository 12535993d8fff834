"""Which items are asked."""

import numpy as np
import pytest
from small_run import CLASSES, IDS, POINTS, TRUTH, learner, ledger, network, pool

from askwise.acquire import ACQUISITIONS
from askwise.errors import InputError
from askwise.loop.decide import Stop
from askwise.selection import SELECTIONS
from askwise.store.facts import Asked, Question, Segment


@pytest.mark.parametrize("acquire", [name for name, one in ACQUISITIONS.items() if one.needs != "moments"])
def test_every_acquisition_of_classes_runs(acquire):
    options = {"u": 2} if acquire == "top_u" else {}
    run = learner(acquire=acquire, acquire_options=options, budget=7, targets=6)
    assert isinstance(run.run(oracle=TRUTH), Stop)


OF_CLASSES = [name for name, one in SELECTIONS.items() if "classification" in one.tasks]


@pytest.mark.parametrize("acquire", [name for name, one in ACQUISITIONS.items() if one.needs == "moments"])
def test_every_acquisition_of_numbers_is_refused_for_classes(acquire):
    with pytest.raises(
        InputError, match=f"acquisition '{acquire}' does not serve classification; .*: random"
    ):
        learner(acquire=acquire)


@pytest.mark.parametrize("select", OF_CLASSES)
def test_every_selection_runs_whole_and_on_a_shortlist(select):
    for shortlist in (1000, 5) if "scores" not in SELECTIONS[select].needs else (1000,):
        run = learner(select=select, budget=7, shortlist=shortlist)
        assert isinstance(run.run(oracle=TRUTH), Stop)
        picks = [question.id for question in run.store.facts(Question)]
        assert len(set(picks)) == 7


def test_what_is_asked_is_what_scoring_by_hand_would_ask():
    from askwise.bayes.predict import score_pool
    from askwise.seeding import derive

    run = learner(initial={name: TRUTH[name] for name in IDS[:6]})
    asked = run.ask()
    reading = pool().read(IDS[6:40])
    scores = score_pool(run.fitted, reading.inputs, "bald", draws=8, seed=derive(5, "draw", 1))
    best = scores.argsort(descending=True)[:3].tolist()
    assert [question.id for question in asked] == [reading.ids[place] for place in best]
    assert [question.score for question in asked] == scores[best].tolist()


def test_only_a_subset_of_the_pool_is_scored_and_ids_are_not_confused():
    run = learner(pool_subset=10)
    run.run(oracle=TRUTH)
    assert {asked.scored for asked in run.store.facts(Asked)} == {10}
    labels = ledger(run).labels
    assert all(CLASSES[label] == TRUTH[name] for name, label in labels.items())


def test_bad_items_are_quarantined_and_no_other_score_changes():
    clean = learner(initial={name: TRUTH[name] for name in IDS[:6]})
    points = np.vstack([POINTS[:40], np.full((2, 4), np.nan, dtype=np.float32)])
    troubled = learner(
        pool=pool(points, [*IDS[:40], "bad-1", "bad-2"]), initial={name: TRUTH[name] for name in IDS[:6]}
    )
    same = [(question.id, question.score) for question in clean.ask()]
    assert [(question.id, question.score) for question in troubled.ask()] == same
    assert set(ledger(troubled).quarantined) == {"bad-1", "bad-2"}
    counts = troubled.status().counts
    assert (counts.quarantined, counts.items) == (2, 42)


def test_a_bad_item_is_not_asked_even_where_nothing_is_scored():
    points = POINTS[:40].copy()
    points[:30] = np.nan
    run = learner(pool=pool(points), acquire="random", initial=10, budget=10)
    assert sorted(question.id for question in run.ask()) == IDS[30:40]


@pytest.mark.parametrize("select", OF_CLASSES)
def test_a_pool_of_nothing_but_bad_items_ends_the_run(select):
    points = POINTS[:40].copy()
    points[6:] = np.inf
    run = learner(pool=pool(points), select=select, initial={name: TRUTH[name] for name in IDS[:6]})
    assert run.run(oracle=TRUTH) == Stop("every item is labelled, skipped or quarantined")
    assert run.status().counts.quarantined == 34


def test_a_cold_start_by_coverage_uses_the_features_of_the_given_network():
    run = learner(select="typiclust")
    first = [question.id for question in run.ask()]
    assert first != [question.id for question in learner().ask()]
    other = network()
    other[0].weight.data *= -3
    assert first != [question.id for question in learner(select="typiclust", network=other).ask()]
    assert run.store.facts(Segment)[0].conditions["weights"]


def test_a_batch_larger_than_the_pool_asks_the_pool():
    assert len(learner(batch=500, initial=500, budget=1000).ask()) == 40


def test_the_initial_items_may_be_selected_otherwise_than_the_later_ones():
    own = learner(initial=4, initial_select="typiclust", select="top_k", budget=8, batch=2)
    typical = learner(initial=4, select="typiclust", budget=8, batch=2)
    plain = learner(initial=4, select="top_k", budget=8, batch=2)
    first = [[question.id for question in run.ask()] for run in (own, typical, plain)]
    assert first[0] == first[1] != first[2]
    own.tell({name: TRUTH[name] for name in first[0]})
    assert all(question.score is not None for question in own.ask())
    with pytest.raises(InputError, match="unknown selection without a model 'badge'"):
        learner(initial_select="badge")
