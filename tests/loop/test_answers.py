"""Answers, corrections, skips, replays."""

import pytest
from small_run import IDS, POINTS, TRUTH, learner, ledger, pool

from askwise.errors import InputError
from askwise.loop.decide import Stop
from askwise.store import CANNOT_TELL, RETRACT, SKIP


def test_corrections_skips_and_cannot_tells_are_kept_with_their_history():
    run = learner()
    first = run.ask()
    names = [question.id for question in first]
    run.tell({names[0]: SKIP, names[1]: CANNOT_TELL, names[2]: "red"}, annotator="ann")
    told = run.tell({names[2]: "blue", names[0]: 1}, annotator="ben")
    assert [(answer.label, answer.annotator) for answer in told] == [(2, "ben"), (1, "ben")]
    history = ledger(run).history(names[2])
    assert [(answer.label, answer.annotator) for answer in history] == [(0, "ann"), (2, "ben")]
    counts = run.status().counts
    assert (counts.labelled, counts.skipped, counts.open, counts.items) == (2, 1, 1, 40)


def test_keys_of_different_items_do_not_meet():
    names = ["a", "b", "a:b", "b#0", "('a', 'b')"]
    run = learner(pool=pool(POINTS[:5], names))
    run.tell({"b": "red"}, key="a")
    run.tell(dict.fromkeys(names[2:], "green"))
    run.tell({"a": "blue"})
    assert ledger(run).labels == {"b": 0, "a:b": 1, "b#0": 1, "('a', 'b')": 1, "a": 2}


def test_answers_from_many_threads_are_all_kept_once(folder):
    from concurrent.futures import ThreadPoolExecutor

    with learner(folder / "run.db", budget=40) as run:
        with ThreadPoolExecutor(8) as people:
            list(people.map(lambda name: run.tell({name: TRUTH[name]}, key="page"), IDS[:40] * 2))
        assert run.status().counts.labelled == 40
        assert all(len(ledger(run).history(name)) == 1 for name in IDS[:40])


def test_a_replayed_answer_is_the_same_answer_and_a_used_key_is_not_given_to_another():
    run = learner()
    name = run.ask()[0].id
    one = run.tell({name: "red"}, key="page-1")
    revision = run.store.revision
    assert run.tell({name: 0}, key="page-1") == one
    assert run.tell({name: "red"}) == one
    assert run.store.revision == revision
    with pytest.raises(InputError, match=f"item '{name}' has another answer under the key 'page-1'"):
        run.tell({name: "blue"}, key="page-1")
    run.tell({name: "blue"}, key="page-2")
    assert run.tell({name: "red"}, key="page-1") == one  # a late replay does not undo the correction
    assert ledger(run).labels[name] == 2


def test_a_correction_after_the_end_trains_once_more():
    run = learner()
    run.run(oracle=TRUTH)
    name, label = next(iter(ledger(run).labels.items()))
    before = run.rounds()
    run.tell({name: (label + 1) % 3})
    assert isinstance(run.run(oracle=TRUTH), Stop)
    assert len(run.rounds()) == len(before) + 1
    run.tell({name: label})
    run.ask()
    assert len(run.rounds()) == len(before) + 2


def test_answers_that_do_not_fit_are_refused_all_together():
    run = learner()
    names = [question.id for question in run.ask()]
    before = run.store.revision
    for told, message in (
        ({names[0]: "red", names[1]: "pink"}, f"the label of '{names[1]}' is 'pink', which is no class"),
        ({names[0]: "red", "nobody": "red"}, "the pool has no item 'nobody'"),
        ({names[0]: 3}, "which is no class"),
        ({names[0]: [0.5, 0.6, 0.1]}, "must be a class name or number"),
    ):
        with pytest.raises(InputError, match=message):
            run.tell(told)
    assert run.store.revision == before


def test_a_label_can_be_taken_back_and_the_item_is_asked_again(folder):
    with learner(folder / "run.db", budget=7) as run:
        first = run.ask()
        run.tell({question.id: TRUTH[question.id] for question in first}, annotator="ann")
        gone = first[0].id
        run.tell({gone: RETRACT})
        counts = run.status().counts
        assert (counts.labelled, counts.open, counts.items) == (3, 0, 40)
        assert [answer.verdict for answer in ledger(run).history(gone)] == ["label", "retract"]
        with pytest.raises(InputError, match=f"item '{gone}' has no answer that could be taken back"):
            run.tell({gone: RETRACT}, annotator="ben")
        run.run(oracle=TRUTH)
        assert run.rounds()[-1].labels == 7
    with learner(folder / "run.db", budget=7) as run:
        assert run.status().counts.labelled == 7


def test_every_annotators_answer_is_kept_even_if_it_is_the_same():
    run = learner()
    name = run.ask()[0].id
    for who in ("ann", "ben", "ann"):
        run.tell({name: "red"}, annotator=who)
    assert [answer.annotator for answer in ledger(run).history(name)] == ["ann", "ben", "ann"]
