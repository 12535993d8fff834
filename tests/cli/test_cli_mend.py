"""`askwise correct`."""

import json

from small_project import labels

from askwise.loop.agreement import blind_words
from askwise.store import open_store
from askwise.store.facts import Answer
from askwise.store.standing import Rules


def test_a_correction_is_learned_in_the_next_round_and_the_history_keeps_both(askwise, made):
    name = next(iter(labels(askwise)))
    was = labels(askwise)[name]
    new = "low" if was == "high" else "high"
    code, out, err = askwise("correct", "signs", name, new, "--annotator", "ann")
    assert (code, err) == (0, "")
    assert out.startswith(f"{name}: {was} -> {new}\n")
    assert labels(askwise)[name] == new
    store = open_store(made / "signs" / "store.db", access="read")
    said = [fact for fact in store.facts(Answer) if fact.id == name]
    store.close()
    assert [fact.annotator for fact in said][-1] == "ann"
    assert len(said) == 2
    rounds = json.loads(askwise("status", "signs", "--json")[1])["runs"][0]["rounds"]
    assert askwise("run", "signs")[0] == 0
    assert json.loads(askwise("status", "signs", "--json")[1])["runs"][0]["rounds"] == rounds + 1


def test_an_answer_can_be_taken_back_or_said_to_be_impossible(askwise, made):
    one, two, *_ = labels(askwise)
    assert askwise("correct", "signs", one, "retract", "--json")[0] == 0
    assert json.loads(askwise("correct", "signs", two, "cannot_tell", "--json")[1])["after"] == "cannot_tell"
    found = labels(askwise)
    assert one not in found
    assert found[two] == "cannot_tell"


def test_an_unknown_item_or_label_is_one_line(askwise, made):
    assert askwise("correct", "signs", "nobody", "low")[2].startswith(
        "askwise: the pool has no item 'nobody'"
    )
    name = next(iter(labels(askwise)))
    assert "is 'lo', which is no class" in askwise("correct", "signs", name, "lo")[2]


def test_who_corrects_is_no_second_opinion(askwise, made):
    name = next(iter(labels(askwise)))
    assert askwise("correct", "signs", name, "low")[0] == 0
    store = open_store(made / "signs" / "store.db", access="read")
    answers = store.facts(Answer)
    store.close()
    assert {one.annotator for one in answers} == {"file", ""}
    words = blind_words(answers, Rules())
    assert {who for said in words.values() for who in said} == {"file"}
