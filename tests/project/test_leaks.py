"""A column that says the label is no feature."""

import pytest

TABLE = "size,kind,species\n" + "".join(
    f"{n},{'ab'[n % 2]},{('cat', 'dog')[n % 3 == 0]}\n" for n in range(12)
)


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TABLE)
    return tmp_path


def test_a_column_of_the_classes_is_refused_and_leaves_no_project(askwise, table):
    code, _, err = askwise("new", "pets", "--table", "t.csv", "--classes", "cat,dog")
    assert code == 2
    assert "column 'species'" in err
    assert "--ignore 'species'" in err
    assert not (table / "pets").exists()


def test_without_it_the_columns_that_are_learned_from_are_said(askwise, table):
    code, out, _ = askwise("new", "pets", "--table", "t.csv", "--classes", "cat,dog", "--ignore", "species")
    assert code == 0
    assert "it learns from the columns size, kind;" in out


def test_a_column_that_equals_the_known_labels_is_refused_even_as_numbers(askwise, table):
    rows = [f"{n},{n % 2},{n * n}" for n in range(8)]
    (table / "n.csv").write_text("\n".join(["id,sign,size", *rows]))
    (table / "labels.csv").write_text("\n".join(["id,label", *(f"{n},{n % 2}" for n in range(8))]))
    new = ("new", "signs", "--table", "n.csv", "--id-column", "id", "--labels", "labels.csv")
    assert "column 'sign'" in askwise(*new)[2]
    assert askwise(*new, "--ignore", "sign")[0] == 0


def test_the_only_column_with_the_values_of_numbered_classes_is_refused_with_the_ways_out(askwise, table):
    (table / "n.csv").write_text("\n".join(["id,sign,size", *(f"{n},{n % 2},{n * n}" for n in range(8))]))
    new = ("new", "signs", "--table", "n.csv", "--id-column", "id")
    code, _, err = askwise(*new, "--classes", "0,1")
    assert code == 2
    assert "column 'sign' of" in err
    assert "leave it out: --ignore 'sign'; if not, give some known labels" in err
    assert not (table / "signs").exists()
    assert askwise(*new, "--classes", "no,yes")[0] == 0
    (table / "labels.csv").write_text("\n".join(["id,label", *(f"{n},{n // 2 % 2}" for n in range(8))]))
    assert askwise("new", "two", *new[2:], "--classes", "0,1", "--labels", "labels.csv")[0] == 0


def test_of_several_columns_with_the_values_of_the_classes_one_called_as_a_label_is_refused(askwise, table):
    rows = [f"{n % 2},{n // 2 % 2},{n * n}" for n in range(8)]
    (table / "a.csv").write_text("\n".join(["smoker,Target,size", *rows]))
    assert "column 'Target' of" in askwise("new", "a", "--table", "a.csv", "--classes", "0,1")[2]
    (table / "b.csv").write_text("\n".join(["smoker,tall,size", *rows]))  # the control: any of them may be it
    code, out, _ = askwise("new", "b", "--table", "b.csv", "--classes", "0,1")
    assert code == 0
    assert "the columns smoker, tall have the values of the classes" in out


def test_a_column_with_other_values_beside_those_of_the_classes_is_learned_from(askwise, table):
    (table / "n.csv").write_text("\n".join(["sign,size", *(f"{n % 3},{n * n}" for n in range(8))]))
    assert askwise("new", "signs", "--table", "n.csv", "--classes", "0,1")[0] == 0
    assert "column 'sign' of" in askwise("new", "three", "--table", "n.csv", "--classes", "0,1,2")[2]


def test_the_column_of_the_number_to_predict_is_refused_and_learns_without(askwise, table):
    (table / "w.csv").write_text("\n".join(["id,acid,size", *(f"{n},{n / 4},{n * n}" for n in range(8))]))
    new = ("new", "wine", "--table", "w.csv", "--id-column", "id", "--number", "acid")
    code, _, err = askwise(*new)
    assert code == 2
    assert "column 'acid' of" in err
    assert err.endswith(
        "is the number to predict, and would be learned from; leave it out: --ignore 'acid'\n"
    )
    assert "it learns from the columns size;" in askwise(*new, "--ignore", "acid")[1]


def test_a_column_that_equals_known_numbers_is_refused_whatever_it_is_called(askwise, table):
    (table / "w.csv").write_text("\n".join(["id,acid,size", *(f"{n},{n / 4},{n * n}" for n in range(8))]))
    (table / "labels.csv").write_text("\n".join(["id,label", *(f"{n},{n / 4:.3f}" for n in range(8))]))
    new = ("--table", "w.csv", "--id-column", "id", "--number", "sour", "--labels", "labels.csv")
    assert "column 'acid' of" in askwise("new", "wine", *new)[2]
    (table / "labels.csv").write_text("\n".join(["id,label", *(f"{n},{n / 4 + 1}" for n in range(8))]))
    assert askwise("new", "wine", *new)[0] == 0  # the control: other numbers are no leak


def test_decimal_commas_are_read_and_said_and_their_own_column_is_no_input_either(askwise, table):
    rows = [f"i{n};{n},5;{n * n},25;{n % 3}" for n in range(8)]
    (table / "c.csv").write_text("\n".join(["id;pw;pl;k", *rows]))
    new = ("--table", "c.csv", "--id-column", "id", "--number", "width")
    code, out, _ = askwise("new", "c", *new)
    assert code == 0
    assert "commas are read as decimal commas in the columns pw, pl\n" in out
    (table / "labels.csv").write_text("\n".join(["id;label", *(f"i{n};{n},5" for n in range(8))]))
    assert "column 'pw' of" in askwise("new", "d", *new, "--labels", "labels.csv")[2]
    (table / "p.csv").write_text("\n".join(["id;pw;pl;k", *rows]).replace(",", "."))  # the control
    assert "decimal" not in askwise("new", "p", "--table", "p.csv", *new[2:])[1]


def test_what_leaves_a_column_out_is_said_as_it_is_typed(askwise, table):
    (table / "m.csv").write_text("\n".join(["key,size", *(f"k{n},{n}" for n in range(200))]))
    err = askwise("new", "m", "--table", "m.csv", "--classes", "a,b")[2]
    assert err.endswith(
        "column 'key' has 200 different values, more than 100; leave it out: --ignore 'key'\n"
    )
    (table / "i.csv").write_text("\n".join(["id,size", *(f"k{n},{n}" for n in range(200))]))
    err = askwise("new", "m", "--table", "i.csv", "--classes", "a,b")[2]
    assert err.endswith("--ignore 'id', or say that it names the items: --id-column 'id'\n")
    (table / "q.csv").write_text('key,size\n"1,5",1\n"2,5",2\n')
    err = askwise("new", "m", "--table", "q.csv", "--classes", "a,b")[2]
    assert "not surely a decimal comma; write them with a decimal point" in err
    assert err.endswith("or leave it out: --ignore 'key'\n")
    err = askwise("new", "m", "--features", "q.csv", "--classes", "a,b")[2]
    assert err == "askwise: q.csv has no lists; give its columns of numbers by --table\n"
