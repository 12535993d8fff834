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


def test_a_feature_with_the_values_of_numbered_classes_is_kept_where_no_label_is_known(askwise, table):
    (table / "n.csv").write_text("\n".join(["sign,size", *(f"{n % 2},{n * n}" for n in range(8))]))
    assert askwise("new", "signs", "--table", "n.csv", "--classes", "0,1")[0] == 0
