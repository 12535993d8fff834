"""Tables are written whole, and what they cannot hold is refused."""

import json

import pyarrow.parquet
import pytest

from askwise.errors import InputError
from askwise.export.tables import write_table

ROWS = [{"a": "=x", "b": 0.5, "c": True, "d": None}, {"a": "é", "b": 1.0, "c": False, "d": "why"}]


def test_a_csv_holds_words_and_numbers_and_no_formulas(tmp_path):
    assert write_table(tmp_path / "new" / "t.csv", list("abcd"), ROWS) == 2
    assert (tmp_path / "new" / "t.csv").read_text("utf-8") == "a,b,c,d\n'=x,0.5,yes,\né,1.0,no,why\n"


def test_jsonl_and_parquet_hold_the_values_themselves(tmp_path):
    write_table(tmp_path / "t.jsonl", list("abcd"), ROWS)
    assert [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()] == ROWS
    write_table(tmp_path / "t.parquet", list("abcd"), ROWS)
    assert pyarrow.parquet.read_table(tmp_path / "t.parquet").to_pylist() == ROWS


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"must end in one of \.csv"):
        write_table(tmp_path / "t.xlsx", ["a"], [])
