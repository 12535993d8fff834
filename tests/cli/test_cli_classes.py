"""`askwise classes`: the list, and every change; what is asked again is said."""

import json
import tomllib

from small_project import labels

from askwise.project import Project
from askwise.project.classes import edit_classes
from askwise.store import open_store
from askwise.store.facts import Act, ClassEdit


def facts(made, kind):
    store = open_store(made / "signs" / "store.db", access="read")
    try:
        return store.facts(kind)
    finally:
        store.close()


def listed(askwise):
    return json.loads(askwise("classes", "signs", "--json")[1])["classes"]


def test_a_renamed_class_keeps_its_labels_and_the_project_goes_on(askwise, made):
    before = labels(askwise)
    code, out, err = askwise("classes", "signs", "rename", "high", "above")
    assert (code, out, err) == (0, "signs: high is called above now; 0 items are to be asked again\n", "")
    assert tomllib.loads((made / "signs" / "plan.toml").read_text())["classes"] == ["above", "low"]
    assert labels(askwise) == {name: {"high": "above"}.get(label, label) for name, label in before.items()}
    assert askwise("run", "signs")[0] == 0
    code, out, _ = askwise("predict", "signs", "--json")
    assert code == 0
    assert set(json.loads(out)["classes"]) == {"above", "low"}


def test_comments_of_the_plan_survive_a_rename(askwise, made):
    plan = made / "signs" / "plan.toml"
    before = plan.read_text().replace('"high"', '"above"')
    assert askwise("classes", "signs", "rename", "high", "above")[0] == 0
    assert plan.read_text() == before


def test_a_rename_cut_off_before_the_plan_was_written_is_finished_by_the_same_command(askwise, made):
    plan = made / "signs" / "plan.toml"
    before = plan.read_text()
    store = open_store(made / "signs" / "store.db", access="answer")
    edit_classes(Project(made / "signs"), store, "rename", "high", ["above"])
    store.close()
    plan.write_text(before)  # as if the power had failed between the two
    assert askwise("run", "signs")[0] == 2  # the control: plan and store contradict each other
    assert askwise("classes", "signs", "rename", "high", "above")[0] == 0
    assert askwise("run", "signs")[0] == 0
    assert [fact.name for fact in facts(made, ClassEdit)] == ["high", "low", "above"]


def test_a_name_that_is_taken_or_no_class_is_refused_and_changes_nothing(askwise, made):
    before = (made / "signs" / "plan.toml").read_text()
    assert "there is a class 'low' already" in askwise("classes", "signs", "rename", "high", "low")[2]
    assert (
        "is 'hgh', which is no class; did you mean 'high'?"
        in askwise("classes", "signs", "rename", "hgh", "x")[2]
    )
    assert (made / "signs" / "plan.toml").read_text() == before


def test_the_list_counts_the_labels_of_each_class_and_says_what_became_of_it(askwise, made):
    assert askwise("classes", "signs") == (0, "      6  high\n      6  low\n", "")
    assert askwise("classes", "signs", "parent", "low", "below zero")[0] == 0
    assert (
        "the labels of high count for low; 0 items" in askwise("classes", "signs", "merge", "high", "low")[1]
    )
    assert askwise("classes", "signs")[1] == (
        "      0  high  no longer in use, now low\n     12  low (below zero)\n"
    )


def test_a_split_adds_its_parts_and_asks_the_items_of_the_class_again_and_no_others(askwise, made):
    before = labels(askwise)
    code, out, _ = askwise("classes", "signs", "split", "high", "high", "highest")
    assert (code, out) == (0, "signs: high has become high, highest; 6 items are to be asked again\n")
    assert [(one["name"], one["labels"], one["into"]) for one in listed(askwise)] == [
        ("high (before the split)", 0, ["high", "highest"]),
        ("low", 6, []),
        ("high", 0, []),
        ("highest", 0, []),
    ]
    assert tomllib.loads((made / "signs" / "plan.toml").read_text())["classes"][2:] == ["high", "highest"]
    assert labels(askwise) == {name: label for name, label in before.items() if label == "low"}
    again = [name for name, label in before.items() if label == "high"]
    (made / "parts.jsonl").write_text(
        "\n".join(json.dumps({"id": n, "label": ["high", "highest"][at % 2]}) for at, n in enumerate(again))
    )
    assert askwise("run", "signs", "--oracle", "parts.jsonl")[0] == 0
    assert [one["labels"] for one in listed(askwise)] == [0, 6, 3, 3]


def test_a_retired_class_gives_its_items_back_to_the_pool(askwise, made):
    assert "low is no longer in use; 6 items" in askwise("classes", "signs", "retire", "low")[1]
    assert set(labels(askwise).values()) == {"high"}
    assert askwise("classes", "signs", "retire", "low")[2] == (
        "askwise: cannot retire the class 'low': it is no longer in use\n"
    )


def test_every_change_is_noted_with_what_it_was(askwise, made):
    askwise("classes", "signs", "add", "none of these")
    askwise("classes", "signs", "parent", "low", "signs")
    assert [(one.act, one.about) for one in facts(made, Act)] == [
        ("add class", "none of these"),
        ("parent class", "low -> signs"),
    ]


def test_what_makes_no_sense_is_one_line_and_changes_nothing(askwise, made):
    before = (made / "signs" / "plan.toml").read_text(), facts(made, ClassEdit)
    for words, said in (
        (("merge", "high"), "that is written: askwise classes signs merge OLD INTO"),
        (("merge", "high", "high"), "a merge of the class 'high' names one other"),
        (("split", "high", "a", "a"), "names at least two others"),
        (("parent", "high", "low"), "'low' is a class, and a heading is none"),
        (("add", " "), "a class needs a name that can be read"),
    ):
        code, _, err = askwise("classes", "signs", *words)
        assert code == 2
        assert said in err
    assert askwise("classes", "signs", "melt", "high")[0] == 2
    assert ((made / "signs" / "plan.toml").read_text(), facts(made, ClassEdit)) == before
