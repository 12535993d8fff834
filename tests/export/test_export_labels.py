"""Labels taken away and read back are the labels that were given."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import askwise as aw
from askwise.errors import InputError
from askwise.export.labels import (
    Labelled,
    labels_of,
    read_folders,
    read_label_studio,
    write_folders,
    write_label_studio,
    write_labels,
)
from askwise.oracle import File
from askwise.oracle.labelling import Classes, TagSets, Values
from askwise.store import CANNOT_TELL, SKIP, open_store
from askwise.store.facts import Answer, ClassEdit, Item, Question

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), min_size=1, max_size=8)
NAMES = st.one_of(
    WORDS, st.sampled_from(["=1+1", "'=x", "-3", "@a", "a,b", 'a"b', "..", ".a", "a/b.png", "%2F"])
)
CLASSES = ("=cat", "'dog", "skip", "a/b", "..")


@st.composite
def said(draw):
    ids = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    told = st.sampled_from([*CLASSES, SKIP, CANNOT_TELL])
    return sorted((Labelled(name, draw(told)) for name in ids), key=lambda one: one.id)


@given(said(), st.sampled_from([".csv", ".jsonl", ".parquet"]))
@settings(max_examples=60, deadline=None)
def test_a_table_of_labels_reads_back_as_it_was(tmp_path_factory, labels, ending):
    path = tmp_path_factory.mktemp("labels") / f"labels{ending}"
    assert write_labels(path, labels, Classes(CLASSES)) == len(labels)
    assert File(path, classes=CLASSES).told == {one.id: one.told for one in labels}


@given(said())
@settings(max_examples=40, deadline=None)
def test_tasks_of_label_studio_read_back_as_they_were(tmp_path_factory, labels):
    path = tmp_path_factory.mktemp("labels") / "labels.json"
    assert write_label_studio(path, labels, {}, Classes(CLASSES)) == len(labels)
    assert read_label_studio(path, Classes(CLASSES)) == labels


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (TagSets(("joy", "a,b", "love")), ["joy", "none", "joy|?love", "a,b|love"]),
        (Values(("price",)), ["3.5", "-0.1", "1e-300"]),
        (Values(("x", "y")), ["1.0|2.5", "0.0|-7.25"]),
    ],
)
def test_tags_and_numbers_survive_the_way_through_label_studio(tmp_path, kind, texts):
    labels = [Labelled(f"i{at}", text, "ann", "a note") for at, text in enumerate(texts)]
    labels = [*labels, Labelled("s", SKIP), Labelled("t", CANNOT_TELL)]
    write_label_studio(tmp_path / "l.json", labels, {"i0": {"text": "shown"}}, kind)
    assert read_label_studio(tmp_path / "l.json", kind) == labels
    told = File(tmp_path / "l.json", classes=kind).told
    wanted = {
        one.id: one.told if one.told in (SKIP, CANNOT_TELL) else kind.label(one.told, what="")
        for one in labels
    }
    assert told == wanted


@given(said())
@settings(max_examples=40, deadline=None)
def test_a_tree_of_folders_reads_back_what_has_a_class(tmp_path_factory, labels):
    path = tmp_path_factory.mktemp("labels") / "tree"
    named = [one for one in labels if isinstance(one.told, str)]
    assert write_folders(path, labels, {one.id: "a text" for one in labels}) == len(named)
    assert read_folders(path, texts=True) == named
    assert all(Path(path).resolve() in file.resolve().parents for file in path.rglob("*"))


def test_no_cell_of_a_csv_is_a_formula(tmp_path):
    labels = [Labelled("=1+1.png", "@cmd", annotator="+x", note="-2+3")]
    write_labels(tmp_path / "l.csv", labels, Classes(("@cmd",)))
    head, row = (tmp_path / "l.csv").read_text().splitlines()
    assert head == "id,label,annotator,note"
    assert row == "'=1+1.png,'@cmd,'+x,'-2+3"


def test_a_number_is_a_number_in_every_table_and_reads_back_to_the_last_bit(tmp_path):
    price = Values(("price",))
    told = {"a": "-6.73", "b": "1e-300", "c": "-1e+22", "d": "0.1"}
    labels = [*(Labelled(name, text) for name, text in told.items()), Labelled("s", SKIP)]
    wanted = {**{name: price.label(text, what="") for name, text in told.items()}, "s": SKIP}
    for ending in (".csv", ".jsonl", ".parquet"):
        path = tmp_path / f"l{ending}"
        write_labels(path, labels, price)
        assert File(path, classes=price).told == wanted
    assert (tmp_path / "l.csv").read_text().splitlines()[1:4] == ["a,-6.73,,", "b,1e-300,,", "c,-1e+22,,"]
    rows = [json.loads(line)["label"] for line in (tmp_path / "l.jsonl").read_text().splitlines()]
    assert rows == [-6.73, 1e-300, -1e22, 0.1, None]
    assert parquet.read_table(tmp_path / "l.parquet")["label"].to_pylist() == rows


def test_of_numbers_that_nobody_could_tell_csv_and_jsonl_say_so_and_parquet_is_refused(tmp_path):
    price, labels = Values(("price",)), [Labelled("a", "-1.5"), Labelled("b", CANNOT_TELL)]
    for ending in (".csv", ".jsonl"):
        write_labels(tmp_path / f"l{ending}", labels, price)
        assert File(tmp_path / f"l{ending}", classes=price).told["b"] is CANNOT_TELL
    with pytest.raises(InputError, match=r"there are 1; write \.csv or \.jsonl"):
        write_labels(tmp_path / "l.parquet", labels, price)


def test_several_numbers_stand_in_one_cell_that_no_spreadsheet_computes(tmp_path):
    both = Values(("x", "y"))
    write_labels(tmp_path / "l.csv", [Labelled("a", "-1.0|-2.5")], both)
    assert (tmp_path / "l.csv").read_text().splitlines()[1] == "a,-1.0|-2.5,,"
    assert File(tmp_path / "l.csv", classes=both).told == {"a": both.label("-1|-2.5", what="")}


def test_a_line_without_a_label_is_a_mistake_and_no_skip_of_numbers_either(tmp_path):
    (tmp_path / "l.jsonl").write_text('{"id": "a", "label": 2.5}\n{"id": "b", "lable": 3.5}\n')
    with pytest.raises(InputError, match="line 2 has no 'label'; mend the line"):
        File(tmp_path / "l.jsonl", classes=Values(("price",)))


def test_a_class_called_cannot_tell_beside_items_nobody_could_tell_is_refused(tmp_path):
    labels = [Labelled("a", "cannot_tell"), Labelled("b", CANNOT_TELL)]
    with pytest.raises(InputError, match="a class is called cannot_tell"):
        write_labels(tmp_path / "l.csv", labels, Classes(("cannot_tell",)))
    write_labels(
        tmp_path / "l.csv", labels[:1], Classes(("cannot_tell",))
    )  # the control: alone it can be told


def test_a_tree_does_not_grow_into_a_folder_that_holds_something(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "x").touch()
    with pytest.raises(InputError, match="is there already"):
        write_folders(tmp_path / "old", [], {})


def test_what_is_no_file_of_label_studio_is_refused(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([{"data": {}}]))
    with pytest.raises(InputError, match="tasks without annotations"):
        read_label_studio(tmp_path / "a.json", Classes(CLASSES))


def test_labels_are_those_that_hold_by_now_with_the_names_that_classes_have_by_now(tmp_path):
    store = open_store(tmp_path / "s.db")
    store.append([Item(id=name) for name in "abcde"])
    store.append([Question(id="e", round=0, rank=0, kind="test")])
    store.append([ClassEdit(edit="add", number=0, name="x"), ClassEdit(edit="add", number=1, name="y")])
    store.answer([Answer(id="a", key="1", verdict="label", label=0, annotator="ann", note="sure")])
    store.answer([Answer(id="b", key="2", verdict="skip"), Answer(id="c", key="3", verdict="cannot_tell")])
    store.answer([Answer(id="a", key="4", verdict="label", label=1, annotator="bob")])
    store.answer([Answer(id="d", key="5", verdict="label", label=1)])
    store.answer([Answer(id="d", key="6", verdict="retract")])
    [asked] = store.facts(Question)
    store.answer([Answer(id="e", key="7", verdict="label", label=0, question=asked.question)])
    found = labels_of(store, Classes(("x", "why")))
    store.close()
    plain = [Labelled("a", "why", "bob"), Labelled("b", aw.SKIP), Labelled("c", aw.CANNOT_TELL)]
    assert found == [
        *plain,
        Labelled("e", "x"),
    ]  # e tests the model: it is no label to learn from, and one here
