from dataclasses import replace

import numpy as np
import pytest
from past_runs import run
from torch import nn

import askwise as aw
from askwise.errors import InputError
from askwise.pool import arrays
from askwise.report import render
from askwise.report.assemble import assemble
from askwise.report.content import Spent
from askwise.report.past import past
from askwise.report.shown import asked
from askwise.store.facts import Answer, Segment
from askwise.store.ledger import Ledger

ACCURACIES = [0.5, 0.6, 0.7]


def test_details_are_those_of_the_first_run_and_curves_those_of_all():
    content = assemble([run(ACCURACIES, seed=4), run(ACCURACIES, seed=5), run(ACCURACIES, acquire="random")])
    assert [curve.name for curve in content.curves] == ["bald", "random"]
    assert content.subject == "bald, seed 4"
    assert content.plan["seed"] == 4
    assert [c.ece for c in content.calibration] == [0.1] * 3
    assert [one.count for one in content.calibration[0].bins] == [10]  # the empty bin is left out
    assert content.confusion == [[4, 1], [2, 3]]
    assert content.recall == [0.8, 0.6]
    assert content.times[0] == Spent(1, {"train": 1.0, "score": 0.5})


def test_questions_come_in_order_with_answers_and_guesses():
    store = run(ACCURACIES)
    content = assemble([store])
    assert [shown.id for shown in content.asked] == ["i0", "i1", "i2", "i3", "i4"]
    assert [shown.label for shown in content.asked] == ["yes", None, None, None, None]
    assert [shown.guess for shown in content.asked] == [None, None, "no", "no", "no"]
    assert content.asked[0].score is None, "a score before there is a model is chance, and is not shown"
    assert content.balance == [0, 1]
    store.append([Answer(id="i0", key="b", verdict="label", label=0)])
    assert assemble([store]).asked[0].label == "no", "a corrected answer is shown as corrected"


def test_of_very_many_questions_the_first_and_the_last_are_shown():
    store = run(ACCURACIES)
    shown, count = asked(past(store), Ledger(store).refresh(), None, most=4)
    assert ([one.id for one in shown], count) == (["i0", "i1", "i3", "i4"], 5)
    content = replace(assemble([store]), asked=shown, asked_in_all=count)
    assert "Of 5 the first and last 2 are shown." in render(content)


def test_pictures_are_shown_where_items_are_pictures():
    pixels = np.zeros((50, 1, 4, 4), dtype=np.float32)
    pool = arrays(pixels, ids=[f"i{number}" for number in range(50)])
    shown = assemble([run(ACCURACIES)], pool=pool).asked
    assert all(one.picture is not None and one.picture.startswith(b"\x89PNG") for one in shown)
    points = arrays(pixels.reshape(50, 16), ids=[f"i{number}" for number in range(50)])
    assert all(one.picture is None for one in assemble([run(ACCURACIES)], pool=points).asked)


def test_a_segment_starts_with_the_round_after_it():
    store = run(ACCURACIES)
    store.append([Segment(conditions={"torch": "2", "threads": 4}, changed=["threads"])])
    first, second = assemble([store]).segments
    assert (first.first_round, first.changed) == (1, [])
    assert (second.first_round, second.changed) == (4, ["threads"])


def test_a_run_that_has_only_begun_makes_a_page():
    content = assemble([run([])])
    assert (content.curves, content.confusion, content.calibration) == ([], (), [])
    assert 'id="asked"' in render(content)


def test_a_run_without_test_data_makes_a_page():
    assert 'id="curves"' not in render(assemble([run([None, None])]))


def test_long_lists_of_ids_are_counted_not_shown():
    content = assemble([run(ACCURACIES, initial={"count": 9, "ids": [f"i{n}" for n in range(9)]})])
    assert content.plan["initial"]["ids"] == "9 ids"


def test_nothing_to_report_is_refused():
    with pytest.raises(InputError, match="at least one run"):
        assemble([])


def test_a_learner_with_a_network_of_ones_own_is_reported_with_pictures_and_what_is_unsure(tmp_path):
    pixels = np.random.default_rng(0).random((30, 1, 4, 4), dtype=np.float32)
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 2))
    choices = {"classes": ["dark", "light"], "batch": 4, "budget": 8, "training": {"epochs": 1}, "seed": 0}
    with aw.Learner(network, pool=pixels, store=tmp_path / "run.db", **choices) as learner:
        learner.run(oracle=lambda question: int(pixels[question.row].mean() > 0.5))
        page = aw.write_report(learner, tmp_path / "report.html").read_text()
        from_the_store = render(assemble([learner.store]))
    assert page.count("data:image/png") >= 8 + 10  # the questions, and the items that are still unsure
    assert "data:image/png" not in from_the_store  # the control: a store alone knows no pictures
