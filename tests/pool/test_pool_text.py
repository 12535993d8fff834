"""Text pools: good rows by content, bad rows by line."""

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from askwise.errors import InputError
from askwise.pool import text


def lengths(texts):
    return torch.tensor([[float(len(words)), 1.0] for words in texts])


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "dataset"])
def test_every_kind_of_table_gives_the_same_items(tmp_path, kind):
    words = ["good", 'with "quotes", commas', "two\nlines", "good", "=SUM(A1)"]
    path = tmp_path / f"pool.{kind}"
    if kind == "jsonl":
        write(path, "".join(json.dumps({"n": 1e3, "text": word}) + "\n" for word in words))
    elif kind == "parquet":
        pq.write_table(pa.table({"n": range(5), "text": words}), path)
    elif kind == "dataset":  # as Hugging Face's library saves it
        path.mkdir()
        table = pa.table({"n": range(5), "text": words})
        with pa.ipc.new_stream(str(path / "data-00000-of-00001.arrow"), table.schema) as stream:
            stream.write_table(table)
        write(path / "state.json", json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
    else:
        mark = "," if kind == "csv" else "\t"
        rows = [f'{n}{mark}"' + word.replace('"', '""') + '"' for n, word in enumerate(words)]
        write(path, f"\ufeffn{mark}text\r\n" + "\r\n".join(rows) + "\r\n\r\n")
    pool = text(path, encode=lengths)
    assert list(pool.ids) == list(text(words, encode=lengths).ids)
    found = pool.read(list(pool.ids))
    assert found.inputs[:, 0].tolist() == [len(word) for word in words]
    assert not found.quarantined
    assert sum(identity.endswith("~2") for identity in pool.ids) == 1


def test_ids_survive_another_order_and_a_column_of_ids_is_used_if_named(tmp_path):
    one = write(tmp_path / "a.csv", "key,text\nx,first\ny,second\n")
    two = write(tmp_path / "b.csv", "text,key\nsecond,y\nfirst,x\n")
    assert set(text(one, encode=lengths).ids) == set(text(two, encode=lengths).ids)
    assert list(text(one, id_column="key", encode=lengths).ids) == ["x", "y"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"", None),
        (b'""', "line 3 has no visible text"),
        (b'"  \t "', "line 3 has no visible text"),
        ("\u200b\u200d".encode(), "line 3 has no visible text"),
        (b"caf\xe9", "line 3 is not UTF-8"),
        (b"nul\0byte", "line 3 holds a NUL byte"),
        (b"one,two", "line 3 has 2 cells, and the header 1"),
    ],
)
def test_a_bad_row_of_a_csv_is_quarantined_with_its_line(tmp_path, row, reason):
    pool = text(write(tmp_path / "p.csv", b"text\nfirst\n" + row + b"\nlast\n"), encode=lengths)
    assert list(pool.quarantined.values()) == ([reason] if reason else [])
    found = pool.read(list(pool.ids))
    assert found.inputs[:, 0].tolist() == [5, 4]
    assert found.quarantined == pool.quarantined


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('{"text": "broken"', "line 2 is not JSON"),
        ("[" * 100_000, "line 2 is nested too deeply"),
        ('["text"]', "line 2 is not a JSON object"),
        ('{"words": "x"}', "line 2 has no 'text'"),
        ('{"text": null}', "line 2: 'text' is missing, not text"),
        ('{"text": 1e999}', "line 2: 'text' is a float, not text"),
        ('{"text": NaN}', "line 2: 'text' is a float, not text"),
        ('{"text": {"deep": 1}}', "line 2: 'text' is a dict, not text"),
        ('{"text": "half a letter: \\ud800"}', "line 2 is not UTF-8"),
    ],
)
def test_a_bad_line_of_a_jsonl_is_quarantined_with_its_line(tmp_path, row, reason):
    content = f'{{"text": "first"}}\n{row}\n{{"text": "last"}}\n'
    pool = text(write(tmp_path / "p.jsonl", content), encode=lengths)
    assert [why[: len(reason)] for why in pool.quarantined.values()] == [reason]
    assert pool.read(list(pool.ids)).inputs[:, 0].tolist() == [5, 4]


def test_whole_numbers_in_a_jsonl_are_text_however_large(tmp_path):
    pool = text(write(tmp_path / "p.jsonl", '{"text": 18446744073709551616}\n'), encode=lengths)
    assert pool.read(list(pool.ids)).inputs[0, 0] == 20


def test_a_line_of_many_megabytes_is_quarantined_in_jsonl_and_refused_by_line_in_csv(tmp_path):
    long = "x" * 10_000_000
    pool = text(write(tmp_path / "p.jsonl", f'{{"text": "{long}"}}\n{{"text": "ok"}}\n'), encode=lengths)
    assert list(pool.quarantined.values()) == ["line 1 has 10000000 characters, more than 1000000"]
    with pytest.raises(InputError, match="line 2: field larger than field limit"):
        text(write(tmp_path / "p.csv", f"text\n{long}\n"), encode=lengths)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", "words,n\na,1\n", "unknown column of .*p.csv 'text'; choose one of: words, n"),
        ("p.csv", "texts\na\n", "did you mean 'texts'"),
        ("p.csv", "text,text\na,b\n", "has the column 'text' 2 times"),
        ("p.csv", 'text\n"open\nnever closed\n', "line 3: unexpected end of data; mend the line"),
        ("p.csv", "", "unknown column"),
        ("p.csv", "text\n", "there are no items"),
        ("p.csv", "text\na\n".encode("utf-16"), "is in UTF-16; save it as UTF-8"),
        ("p.jsonl", '{"words": 1}\n', "no line of .*p.jsonl is a JSON object with the column 'text'"),
        ("p.parquet", "PAR1 but not really", "cannot be read as Parquet"),
        ("p.xlsx", "", "unknown kind of table '.xlsx'"),
    ],
)
def test_a_file_that_cannot_be_a_pool_is_refused_in_one_line(tmp_path, name, content, message):
    with pytest.raises(InputError, match=message) as caught:
        text(write(tmp_path / name, content), encode=lengths)
    assert "\n" not in str(caught.value)


def test_a_folder_of_files_is_a_pool_and_bad_files_are_quarantined_by_name(tmp_path):
    folder = tmp_path / "texts"
    (folder / "deep").mkdir(parents=True)
    write(folder / "a.txt", "\ufefffirst")
    write(folder / "deep" / "b.TXT", "second é")
    write(folder / "notes.md", "not an item")
    good = text(folder, encode=lengths)
    assert list(good.ids) == ["a.txt", "deep/b.TXT"]
    assert good.read(list(good.ids)).inputs[:, 0].tolist() == [5, 8]
    bad = {
        "empty.txt": (b"", "it is an empty file"),
        "blank.txt": (b" \n", "it has no visible text"),
        "hidden.txt": ("\u200b".encode(), "it has no visible text"),
        "latin.txt": (b"caf\xe9", "it is not UTF-8"),
        "wide.txt": ("wide".encode("utf-16"), "it is in UTF-16; save it as UTF-8"),
        "nul.txt": (b"a\0b", "it holds a NUL byte"),
        "long.txt": (b"x" * 1_000_001, "it has 1000001 characters, more than 1000000"),
    }
    for name, (content, _) in bad.items():
        write(folder / name, content)
    (folder / "out.txt").symlink_to("/etc/passwd")
    (folder / "loop.txt").symlink_to("loop.txt")
    (folder / "folder.txt").mkdir()
    os.mkfifo(folder / "pipe.txt")
    pool = text(folder, encode=lengths)
    wanted = {name: why for name, (_, why) in bad.items()} | {
        "out.txt": "it is a link that leaves the folder",
        "folder.txt": "it is a folder, pipe or device, not a file",
        "pipe.txt": "it is a folder, pipe or device, not a file",
    }
    found = dict(pool.quarantined)
    assert found.pop("loop.txt").startswith("it cannot be opened")
    assert found == wanted
    assert torch.equal(pool.read(list(pool.ids)).inputs, good.read(list(good.ids)).inputs)
    assert len(pool) == len(pool.quarantined) + 2
    with pytest.raises(InputError, match=r"holds no texts; their names end in \.txt"):
        text(folder / "folder.txt")


def test_a_long_cell_of_a_csv_is_a_text_like_any_other(tmp_path):
    long = "word " * 100_000
    pool = text(write(tmp_path / "p.csv", f"text\n{long}\nshort\n"), encode=lengths)
    assert pool.read(list(pool.ids)).inputs[:, 0].tolist() == [500_000, 5]


def test_missing_files_and_duplicate_ids_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        text(tmp_path / "no.csv")
    path = write(tmp_path / "p.csv", "id,text\na,first\nb,second\na,third\n")
    with pytest.raises(InputError, match="ids must be unique, and 'a' is on lines 2 and 4"):
        text(path, id_column="id", encode=lengths)


def test_parquet_cells_that_are_no_text_are_quarantined_by_row(tmp_path):
    pq.write_table(pa.table({"text": ["a", None, "c"]}), tmp_path / "p.parquet")
    pool = text(tmp_path / "p.parquet", encode=lengths)
    assert list(pool.quarantined.values()) == ["row 2: 'text' is missing, not text"]


def test_an_encoder_is_needed_and_must_give_one_row_of_one_width_for_each_text():
    with pytest.raises(InputError, match="pass encode="):
        text(["a"]).read(list(text(["a"]).ids))
    with pytest.raises(InputError, match="must give one row for each of 1 texts, and gave"):
        _ = text(["a"], encode=lambda texts: torch.zeros(3, 2)).like()
    pool = text(["a", "longer"], encode=lambda texts: torch.zeros(len(texts), max(map(len, texts))))
    with pytest.raises(InputError, match="pad every text to one length"):
        pool.read(list(pool.ids))
