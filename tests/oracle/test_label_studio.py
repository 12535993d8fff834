"""Exports of Label Studio: what they say of items, and one clear line for what they cannot say."""

import json

import pytest

from askwise.errors import InputError
from askwise.oracle import File
from askwise.oracle.label_studio import called_in, matched, read_tasks
from askwise.oracle.labelling import Classes, TagSets, Values
from askwise.pool.ids import of_text
from askwise.store import CANNOT_TELL, SKIP
from askwise.store.labels import Numbers, Tags

PETS = Classes(("cat", "dog"))


def annotation(*choices, who=1, cancelled=False, control="animal"):
    value = {
        "from_name": control,
        "to_name": "picture",
        "type": "choices",
        "value": {"choices": list(choices)},
    }
    return {"completed_by": who, "was_cancelled": cancelled, "result": [value] if choices else []}


def export(path, *tasks):
    found = [
        {"id": at + 1, "data": data, "annotations": list(said)} for at, (data, *said) in enumerate(tasks)
    ]
    path.write_text(json.dumps(found))
    return path


def picture(name):
    return {"image": f"/data/local-files/?d={name}"}


def test_an_export_says_the_last_word_of_each_annotator_and_the_majority_of_them(tmp_path):
    path = export(
        tmp_path / "e.json",
        (picture("a.jpg"), annotation("cat"), annotation("dog")),
        (picture("b.jpg"), annotation("cat", who=1), annotation("dog", who=2), annotation("dog", who=3)),
        (picture("c.jpg"), annotation(cancelled=True)),
        (picture("d.jpg"), annotation()),
        (picture("e.jpg"),),
        (picture("f.jpg"), annotation("dog"), annotation(cancelled=True)),
    )
    told = {one.called: one.told for one in read_tasks(path, PETS)}
    assert told == {"a.jpg": "dog", "b.jpg": "dog", "c.jpg": SKIP, "d.jpg": CANNOT_TELL, "f.jpg": "dog"}


def test_a_task_whose_annotators_disagree_is_left_out_with_one_line(tmp_path):
    path = export(
        tmp_path / "e.json",
        (picture("a.jpg"), annotation("cat", who=1), annotation("dog", who=2)),
        (picture("b.jpg"), annotation("cat")),
    )
    file = File(path, classes=PETS)
    assert file.told == {"b.jpg": "cat"}
    [line] = file.unmatched.values()
    assert line.endswith("task 1: annotators disagree, cat (1) and dog (1); it is left out")


def test_a_choice_that_is_no_class_is_refused_by_task_and_name(tmp_path):
    path = export(tmp_path / "e.json", (picture("a.jpg"), annotation("bird")))
    with pytest.raises(InputError, match=r"e\.json, task 1: the label.*'bird'.*cat"):
        File(path, classes=PETS)


def test_two_choices_where_an_item_has_one_class_are_refused(tmp_path):
    path = export(tmp_path / "e.json", (picture("a.jpg"), annotation("cat", "dog")))
    with pytest.raises(InputError, match="2 choices, and an item has one class"):
        File(path, classes=PETS)
    [one] = read_tasks(path, TagSets(PETS.names))  # the control: as tags they are both read
    assert one.told == Tags((0, 1))


def test_a_path_that_leads_out_of_its_folder_is_left_out_and_never_opened(tmp_path):
    path = export(
        tmp_path / "e.json",
        (picture("../../etc/passwd"), annotation("cat")),
        (picture("%2E%2E/%2E%2E/etc/passwd"), annotation("cat")),
        (picture("b.jpg"), annotation("cat")),
    )
    file = File(path, classes=PETS)
    assert file.told == {"b.jpg": "cat"}
    assert all(
        "'../../etc/passwd', which leads out of its folder" in line for line in file.unmatched.values()
    )
    assert len(file.unmatched) == 2


@pytest.mark.parametrize(
    ("shown", "called"),
    [
        ({"image": "/data/upload/3/0a1b2c3d-cat%201.jpg"}, "cat 1.jpg"),
        ({"image": "http://host/photos/x/cat.jpg?v=1"}, "photos/x/cat.jpg"),
        ({"image": "/data/local-files/?d=photos/cat.jpg"}, "photos/cat.jpg"),
        ({"text": "It is 50% off, isn't it? ../x"}, "It is 50% off, isn't it? ../x"),
        ({"id": "k7", "text": "any"}, "k7"),
        ({"title": "only this"}, "only this"),
    ],
)
def test_an_item_is_called_by_its_id_its_file_or_its_text(shown, called):
    assert called_in(shown) == called


def test_an_item_is_found_by_a_path_that_ends_in_its_name_or_by_its_whole_text():
    known = {"cat.jpg", of_text("hello there")}

    def find(key):
        if key not in known:
            raise InputError(f"the pool has no item {key!r}")
        return key

    assert matched("photos/cat.jpg", find) == "cat.jpg"
    assert matched("hello there", find) == of_text("hello there")
    with pytest.raises(InputError, match="no item 'bye'"):
        matched("bye", find)


def test_numbers_are_read_from_their_control(tmp_path):
    value = {"from_name": "price", "to_name": "t", "type": "number", "value": {"number": 7}}
    said = {"completed_by": {"email": "a@b.c"}, "result": [value]}
    [one] = read_tasks(export(tmp_path / "e.json", ({"id": "x"}, said)), Values(("euro",)))
    assert (one.told, one.annotator) == (Numbers((7.0,)), "a@b.c")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("[", "no JSON export"),
        ("{}", "no list of tasks"),
        ('[{"image": "a", "choice": "cat"}]', "tasks without annotations"),
        ('[{"data": {"id": "a"}, "annotations": [{"result": [{"value": 3}]}, 5]}]', "none that can be read"),
        ('[{"data": {"n": 1}, "annotations": [{"result": []}]}]', "names no item"),
    ],
)
def test_what_is_no_export_gets_one_line(tmp_path, content, line):
    (tmp_path / "e.json").write_text(content)
    with pytest.raises(InputError, match=line) as refusal:
        File(tmp_path / "e.json", classes=PETS)
    assert "\n" not in str(refusal.value)


def test_two_controls_of_choices_need_one_that_is_called_label(tmp_path):
    both = {"result": [*annotation("cat")["result"], *annotation("big", control="size")["result"]]}
    path = export(tmp_path / "e.json", (picture("a.jpg"), both))
    with pytest.raises(InputError, match="the controls animal, size"):
        File(path, classes=PETS)
    [one] = read_tasks(path, PETS, control="animal")
    assert one.told == "cat"
