"""Tables are written whole, and what they cannot hold is refused."""

import json
import random

import pyarrow.parquet
import pytest

from askwise.errors import InputError
from askwise.export.tables import read_table, write_table
from askwise.pool import tables

ROWS = [{"a": "=x", "b": 0.5, "c": True, "d": None}, {"a": "é", "b": 1.0, "c": False, "d": "why"}]


def test_a_csv_holds_words_and_numbers_and_no_formulas(tmp_path):
    assert write_table(tmp_path / "new" / "t.csv", list("abcd"), ROWS) == 2
    assert (tmp_path / "new" / "t.csv").read_text("utf-8") == "a,b,c,d\n'=x,0.5,yes,\né,1.0,no,why\n"


def test_jsonl_and_parquet_hold_the_values_themselves(tmp_path):
    write_table(tmp_path / "t.jsonl", list("abcd"), ROWS)
    assert [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()] == ROWS
    write_table(tmp_path / "t.parquet", list("abcd"), ROWS)
    assert pyarrow.parquet.read_table(tmp_path / "t.parquet").to_pylist() == ROWS


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_what_is_read_back_is_written_as_it_was(tmp_path, kind):
    words = ["=x", "'=x", "'x", "-1", "-1e-05", '"', "a,b", "two\nlines", "é", "\udcff", "", "@"]
    numbers = [0.1, -1e-05, 1e300, 7, True, False, None]
    rows = [{"=id": word, "n": numbers[at % len(numbers)]} for at, word in enumerate(words)]
    path = tmp_path / f"t.{kind}"
    write_table(path, ["=id", "n"], rows)
    before = path.read_bytes()
    found = read_table(path, ["=id", "n"])
    assert [row["=id"] for row in found] == words
    write_table(path, ["=id", "n"], found)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "line", "why"),
    [
        ("t.csv", "x", "line 3 has 1 cells, and the header 2"),
        ("t.jsonl", '{"a": 1}', "line 2 has other columns than the first"),
        ("t.jsonl", "x", "line 2 is not JSON"),
    ],
)
def test_a_broken_line_is_refused_and_not_taken_for_a_row(tmp_path, name, line, why):
    path = tmp_path / name
    write_table(path, ["a", "b"], [{"a": "1", "b": "2"}])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InputError, match=f"{why}.*; mend the line, or leave --append out"):
        read_table(path, ["a", "b"])


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"must end in one of \.csv"):
        write_table(tmp_path / "t.xlsx", ["a"], [])


def test_a_parquet_file_that_was_damaged_later_never_gives_other_words(tmp_path):
    rows = [{"id": f"i{n}", "text": f"some words, number {n} of them"} for n in range(200)]
    write_table(tmp_path / "t.parquet", ["id", "text"], rows)
    good, rng, refused = (tmp_path / "t.parquet").read_bytes(), random.Random(0), 0
    for _ in range(100):
        content = bytearray(good)
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        (tmp_path / "t.parquet").write_bytes(content)
        try:
            found = [list(row.cells) for row in tables.rows(tmp_path / "t.parquet", ["id", "text"])]
        except InputError:
            refused += 1
        else:
            assert found == [[row["id"], row["text"]] for row in rows]
    assert refused > 50  # the control: most flips are seen
