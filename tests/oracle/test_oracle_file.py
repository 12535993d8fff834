import numpy as np
import pytest

import askwise as aw
from askwise.errors import InputError
from askwise.oracle import File, Question, known_labels, open_oracle
from askwise.oracle.labelling import labelling
from askwise.store.facts import CANNOT_TELL, SKIP
from askwise.store.labels import Numbers

QUESTIONS = [Question(id=name, row=0, name=name, round=0, rank=0) for name in ("a", "b", "c", "d", "e")]


def test_csv_and_jsonl_answer_alike_and_leave_the_rest_open(tmp_path):
    (tmp_path / "l.csv").write_text("label,id\ncat,a\n dog ,b\nskip,c\ncannot_tell,d\ncat,a\n")
    rows = [("a", "cat"), ("b", "dog"), ("c", ""), ("d", "cannot_tell")]
    (tmp_path / "l.jsonl").write_text("".join(f'{{"id": "{i}", "label": "{x}"}}\n' for i, x in rows))
    wanted = {"a": "cat", "b": "dog", "c": SKIP, "d": CANNOT_TELL}
    for name in ("l.csv", "l.jsonl"):
        assert open_oracle(tmp_path / name, classes=["cat", "dog"]).answer(QUESTIONS) == wanted


def test_numbers_in_jsonl_are_classes_named_by_numbers(tmp_path):
    (tmp_path / "l.jsonl").write_text('{"id": 7, "label": 3}\n')
    assert File(tmp_path / "l.jsonl", classes=10).answer(
        [Question(id="7", row=0, name="7", round=0, rank=0)]
    ) == {"7": "3"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,lable\na,cat\n", "has the columns id, lable, and none that names the label; call it 'label'"),
        ("id,label\na,cat\nb,dog\na,dog\n", "gives item 'a' two labels, on line 2 and line 4; keep one"),
        ("id,label\na,cta\n", "line 2: the label of 'a' is 'cta', which is no class; did you mean 'cat'"),
        ("id,label\na,cat,extra\n", "line 2 has 3 cells, and the header 2; mend the line"),
    ],
)
def test_a_file_with_a_mistake_is_refused_by_line(tmp_path, content, message):
    (tmp_path / "l.csv").write_text(content)
    with pytest.raises(InputError, match=message):
        File(tmp_path / "l.csv", classes=["cat", "dog"])


def test_a_class_called_skip_is_a_class(tmp_path):
    (tmp_path / "l.csv").write_text("id,label\na,skip\n")
    assert File(tmp_path / "l.csv", classes=["skip", "run"]).answer(QUESTIONS) == {"a": "skip"}


def test_labels_known_in_advance_are_those_of_files_and_simulations(tmp_path):
    (tmp_path / "l.csv").write_text("id,label\na,cat\nb,skip\nc,cannot_tell\n")
    classes = ["cat", "dog"]
    assert known_labels(open_oracle(tmp_path / "l.csv", classes=classes)) == {"a": "cat"}
    assert known_labels(open_oracle({"a": "dog"}, classes=classes)) == {"a": "dog"}
    assert known_labels(open_oracle(lambda question: "cat", classes=classes)) is None


POOL = {"a/cat1.jpg": "a/cat1.jpg", "cat1.jpg": "a/cat1.jpg", "b/dog.jpg": "b/dog.jpg", 1: "b/dog.jpg"}


def find(key):
    if key not in POOL:
        raise InputError(f"the pool has no item {key!r} (the nearest is 'cat1.jpg'); tell answers by ids")
    return POOL[key]


@pytest.mark.parametrize(
    "text", ["file;class\ncat1.jpg;cat\n", "Image\tTarget\ncat1.jpg\tcat\n", "path|y\na/cat1.jpg|cat\n"]
)
def test_columns_and_separators_are_those_that_people_use(text, tmp_path):
    (tmp_path / "l.csv").write_text(text)
    assert File(tmp_path / "l.csv", classes=["cat", "dog"], find=find).labels == {"a/cat1.jpg": "cat"}


def test_rows_are_numbers_of_the_array(tmp_path):
    (tmp_path / "l.csv").write_text("row,label\n1,dog\n")
    assert File(tmp_path / "l.csv", classes=["cat", "dog"], find=find).labels == {"b/dog.jpg": "dog"}


def test_lines_that_match_nothing_are_reported_with_the_nearest(tmp_path):
    (tmp_path / "l.csv").write_text("id,label\ncat1.jpg,cat\ncat2.jpg,cat\n")
    found = File(tmp_path / "l.csv", classes=["cat", "dog"], find=find)
    assert found.labels == {"a/cat1.jpg": "cat"}
    assert found.unmatched == {"cat2.jpg": "the pool has no item 'cat2.jpg' (the nearest is 'cat1.jpg')"}


def test_a_file_that_matches_nothing_at_all_is_refused(tmp_path):
    (tmp_path / "l.csv").write_text("id,label\ncat2.jpg,cat\n")
    with pytest.raises(InputError, match=r"none of 1 lines names an item; 'cat2.jpg': the pool has no item"):
        File(tmp_path / "l.csv", classes=["cat", "dog"], find=find)


def test_bytes_that_are_not_utf8_are_refused_by_line(tmp_path):
    (tmp_path / "l.csv").write_bytes(b"id,label\ncaf\xe9.jpg,cat\n")
    with pytest.raises(InputError, match="line 2 is not UTF-8; save the file as UTF-8"):
        File(tmp_path / "l.csv", classes=["cat", "dog"])


def test_a_changed_label_is_a_correction(tmp_path):
    (tmp_path / "l.csv").write_text("id,label\na,cat\nb,dog\nc,cat\n")
    found = File(tmp_path / "l.csv", classes=["cat", "dog"])
    assert found.corrections({"a": 0, "b": 0, "z": 1}) == {"b": "dog"}


def test_a_key_that_is_there_twice_is_refused(tmp_path):
    (tmp_path / "l.jsonl").write_text('{"id": "a", "id": "b", "label": "cat"}\n')
    with pytest.raises(InputError, match="line 1 is not JSON: the key 'id' is there twice; mend the line"):
        File(tmp_path / "l.jsonl", classes=["cat", "dog"])


def test_cells_that_an_export_neutralised_are_read_as_they_were(tmp_path):
    (tmp_path / "labels.csv").write_text("id,label\n'=1.jpg,'-cold\n''=1.jpg,warm\n'+2.jpg,warm\n")
    known = {"=1.jpg", "'=1.jpg", "'+2.jpg"}

    def find(name):
        if name not in known:
            raise InputError(f"no item {name!r}")
        return name

    found = File(tmp_path / "labels.csv", classes=["-cold", "warm"], find=find)
    assert found.told == {"=1.jpg": "-cold", "'=1.jpg": "warm", "'+2.jpg": "warm"}
    assert not found.unmatched


def test_a_file_of_numbers_may_have_decimal_commas_and_shows_what_its_commas_are(tmp_path):
    path, price = tmp_path / "l.csv", labelling({"name": "regression"}, ["price"])
    path.write_text("id;label\na;-3,5\nb;1,234\nc;7\nd;\n")
    told = {"a": Numbers((-3.5,)), "b": Numbers((1.234,)), "c": Numbers((7,)), "d": SKIP}
    assert File(path, classes=price).told == told
    path.write_text('id,label\na,"-3,5"\n')
    assert File(path, classes=price).told == {"a": Numbers((-3.5,))}
    for other in ("-3.5", "-3", "-3,5\nc;0.5"):  # the control: here it may be a thousand
        path.write_text(f"id;label\nb;1,234\na;{other}\n")
        with pytest.raises(InputError, match=r"line 2: the label of 'b' is '1,234', which may be 1\.234 or"):
            File(path, classes=price)


def test_rows_under_another_heading_are_explained_whole(tmp_path):
    pool = aw.pool.arrays(np.zeros((3, 2), np.float32))
    (tmp_path / "labels.csv").write_text("id,label\n0,cat\n1,dog\n")
    advice = r"\(a row is named by a number, in a file in a column row\)$"
    with pytest.raises(
        InputError, match=f"none of 2 lines names an item; '0': the pool has no item '0' {advice}"
    ):
        File(tmp_path / "labels.csv", classes=["cat", "dog"], find=pool.find)
    (tmp_path / "labels.csv").write_text("row,label\n0,cat\n1,dog\n")  # the control
    assert len(File(tmp_path / "labels.csv", classes=["cat", "dog"], find=pool.find).labels) == 2
