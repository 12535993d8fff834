import math

import pytest

from askwise.errors import CorruptError
from askwise.runs.journal import append, read


def test_rows_come_back_in_order(tmp_path) -> None:
    path = tmp_path / "new" / "rows.jsonl"
    assert read(path) == []
    for number in range(3):
        append(path, {"number": number, "name": "é\n"})
    assert [row["number"] for row in read(path)] == [0, 1, 2]
    assert len(path.read_text().splitlines()) == 3


def test_a_line_that_was_cut_off_is_done_again(tmp_path) -> None:
    path = tmp_path / "rows.jsonl"
    append(path, {"number": 0})
    with path.open("a") as file:
        file.write('{"number": 1, "na')
    assert read(path) == [{"number": 0}]
    append(path, {"number": 2})
    assert read(path) == [{"number": 0}, {"number": 2}]


def test_a_damaged_line_in_the_middle_is_named(tmp_path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"number": 0}\n{"num\n{"number": 2}\n')
    with pytest.raises(CorruptError, match=r"line 2 of .*rows.jsonl is damaged"):
        read(path)


def test_a_row_that_cannot_be_written_leaves_the_journal_as_it_was(tmp_path) -> None:
    path = tmp_path / "rows.jsonl"
    append(path, {"number": 0})
    with pytest.raises(ValueError, match="JSON"):
        append(path, {"number": math.inf})
    assert read(path) == [{"number": 0}]
