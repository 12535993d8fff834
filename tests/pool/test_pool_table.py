"""Tables of numbers and categories, and embeddings from files."""

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from askwise.errors import InputError
from askwise.pool import Coding, coding_of, embeddings, prepared, table
from askwise.pool.coding import Category

CSV = "age,colour,name\n10,red,a\n20,blue,b\n30,red,c\n"


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def everything(pool):
    return pool.read(list(pool.ids))


@pytest.fixture(params=["csv", "tsv", "jsonl", "parquet", "dataset"])
def path(request, tmp_path):
    """The same table in every kind of file."""
    columns = {"age": [10.0, 20.0, 30.0], "colour": ["red", "blue", "red"], "name": ["a", "b", "c"]}
    path = tmp_path / f"t.{request.param}"
    if request.param == "parquet":
        pq.write_table(pa.table(columns), path)
    elif request.param == "dataset":
        saved(path, columns)
    elif request.param == "jsonl":
        lines = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        write(path, "".join(json.dumps(line) + "\n" for line in lines))
    else:
        write(path, CSV if request.param == "csv" else CSV.replace(",", "\t"))
    return path


def saved(folder, columns, parts=2):
    """A dataset as Hugging Face's library saves it."""
    folder.mkdir()
    whole = pa.table(columns)
    names = [f"data-{part:05}-of-{parts:05}.arrow" for part in range(parts)]
    for part, name in enumerate(names):
        share = -(-len(whole) // parts)
        some = whole.slice(part * share, share)
        with pa.ipc.new_stream(str(folder / name), whole.schema) as stream:
            stream.write_table(some)
    state = {"_data_files": [{"filename": name} for name in names], "_split": "train"}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")
    return folder


def test_numbers_are_standardised_and_categories_one_hot_in_every_kind_of_file(path):
    pool = table(path, ignore=["name"])
    deviation = np.std([10, 20, 30])
    wanted = [[-10 / deviation, 0, 1], [0, 1, 0], [10 / deviation, 0, 1]]
    torch.testing.assert_close(everything(pool).inputs, torch.tensor(wanted, dtype=torch.float32))
    assert list(table(path, columns=["age"], id_column="name").ids) == ["a", "b", "c"]


def test_ids_survive_another_order_of_rows(tmp_path):
    one = write(tmp_path / "a.csv", CSV)
    two = write(tmp_path / "b.csv", "age,colour,name\n30,red,c\n20,blue,b\n10,red,a\n")
    assert set(table(one).ids) == set(table(two).ids)


def test_a_coding_is_fixed_by_the_first_pool_and_kept_as_json(tmp_path):
    first = write(tmp_path / "a.csv", CSV)
    coding = coding_of(first, ignore=["name"])
    assert Coding.model_validate_json(coding.model_dump_json()) == coding
    pool = table(first, coding=coding)
    more = write(tmp_path / "b.csv", "colour,age,name\ngreen,20,x\nred,40,y\n")
    new = pool.add(table(more, coding=coding))
    found = pool.read(new).inputs
    assert found[0].tolist() == [0, 0, 0]  # a colour that the pool did not have
    assert found[1, 0].item() == pytest.approx(20 / np.std([10, 20, 30]))
    assert torch.equal(
        everything(table(first, coding=coding)).inputs, everything(table(first, ignore=["name"])).inputs
    )


def test_a_column_ignored_later_leaves_the_coding_and_changes_no_id(tmp_path):
    path = write(tmp_path / "a.csv", CSV)
    coding = coding_of(path)
    whole, less = table(path, coding=coding), table(path, coding=coding, ignore=["colour"])
    assert list(less.ids) == list(whole.ids)
    assert torch.equal(everything(less).inputs, everything(whole).inputs[:, [0, 3, 4, 5]])
    again = prepared(path, less.preparation())
    assert list(again.ids) == list(whole.ids)
    assert torch.equal(everything(again).inputs, everything(less).inputs)
    without = write(tmp_path / "b.csv", "name,age\na,10\n")
    assert torch.equal(everything(prepared(without, less.preparation())).inputs, everything(less).inputs[:1])
    with pytest.raises(InputError, match="no columns left to learn from"):
        table(path, coding=coding, ignore=["age", "colour", "name"])


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("10,red", None),
        ("50,blue", None),
        ("-10,red", None),
        ("51,red", "'age' is '51', far outside of 10 to 30, which the model knows"),
        ("-11,red", "'age' is '-11', far outside of 10 to 30, which the model knows"),
        ("20,green", "'colour' is 'green', which no item had that the model knows"),
        ("20,", None),
    ],
)
def test_a_row_unlike_all_that_were_there_says_why(tmp_path, row, why):
    coding = coding_of(write(tmp_path / "a.csv", CSV), ignore=["name"])
    pool = table(write(tmp_path / "b.csv", f"age,colour\n{row}\n"), coding=coding)
    assert pool.unlike(next(iter(pool.ids))) == why


def test_a_coding_of_a_column_that_names_the_items_now_is_left_out(tmp_path):
    path = write(tmp_path / "a.csv", CSV)
    pool = table(path, coding=coding_of(path), id_column="name")
    assert (list(pool.ids), everything(pool).inputs.shape) == (["a", "b", "c"], (3, 3))


def test_empty_cells_count_as_the_mean_and_say_so(tmp_path):
    path = write(tmp_path / "a.csv", "age,kind\n10,\n,x\n30,x\n")
    found = everything(table(path)).inputs
    assert found.tolist() == [[-1, 0, 0], [0, 1, 1], [1, 0, 1]]


@pytest.mark.parametrize("word", ["NA", "n/a", "NaN", "null", "None", "?", "-", " na "])
def test_words_for_missing_are_empty_cells_among_numbers_and_categories_among_words(tmp_path, word):
    path = write(tmp_path / "a.csv", f"age,kind\n10,x\n{word},{word}\n{word},y\n30,x\n")
    assert everything(table(path)).inputs[:, :2].tolist() == [[-1, 0], [0, 1], [0, 1], [1, 0]]
    kind = coding_of(path).columns[1]
    assert isinstance(kind, Category)
    assert set(kind.values) == {"x", "y", word}
    comma = write(tmp_path / "b.csv", f"age;kind\n1,5;x\n{word};y\n3,5;x\n")
    assert everything(table(comma)).inputs[:, :2].tolist() == [[-1, 0], [0, 1], [1, 0]]
    words = write(tmp_path / "c.csv", f"age\n{word}\nyoung\n10\n")
    assert len(everything(table(words)).inputs[0]) == 3  # no column of numbers, so nothing is missing


def test_numbers_that_are_names_can_be_categories(tmp_path):
    path = write(tmp_path / "a.csv", "code\n10115\n80331\n10115\n")
    assert everything(table(path, categories=["code"])).inputs.tolist() == [[1, 0], [0, 1], [1, 0]]
    with pytest.raises(InputError, match="categories names 'cod', and the columns are: code"):
        table(path, categories=["cod"])


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("1e999", "line 2: 'n' is '1e999', not a finite number"),
        ("NaN", "line 2: 'n' is missing, and was not when the columns were read first"),
        ("=1+1", "line 2: 'n' is '=1+1', not a finite number"),
        ("1_000", "line 2: 'n' is '1_000', not a finite number"),
        ("1,2", "line 2 has 2 cells, and the header 1"),
        ("18446744073709551616", None),
        ("1e300", "it holds NaN or infinite numbers"),
    ],
)
def test_a_bad_number_is_quarantined_with_its_line(tmp_path, cell, why):
    good = "".join(f"{n}\n" for n in range(30))
    coding = coding_of(write(tmp_path / "good.csv", f"n\n{good}"))
    pool = table(write(tmp_path / "a.csv", f"n\n{cell}\n{good}"), coding=coding)
    found = everything(pool)
    assert list(found.quarantined.values()) == ([] if why is None else [why])
    alone = everything(table(tmp_path / "good.csv", coding=coding)).inputs
    assert torch.equal(found.inputs[-30:], alone)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,a\n1,2\n", "has the column 'a' 2 times"),
        ("a\n", "has no rows"),
        ("", "no columns left"),
        ("a,b\n1,\n2,\n", "column 'b' is empty; leave it out"),
        ("a\n" + "".join(f"x{n}\n" for n in range(200)), "200 different values, more than 100; leave it out"),
        ("a\n1e308\n-1e308\n1e308\n", "numbers too large to be averaged"),
        ("a\n1,2\n", "no row can be used; the first: line 2 has 2 cells"),
    ],
)
def test_a_table_that_cannot_be_a_pool_is_refused_in_one_line(tmp_path, content, message):
    with pytest.raises(InputError, match=message) as caught:
        table(write(tmp_path / "t.csv", content))
    assert "\n" not in str(caught.value)


COMMAS = "id;a;b\ni;5,1;-0,25\nj;3;1,5e3\nk;;,5\n"


def test_decimal_commas_are_read_as_points_are(tmp_path):
    comma = table(write(tmp_path / "comma.csv", COMMAS), id_column="id")
    point = table(write(tmp_path / "point.csv", COMMAS.replace(",", ".")), id_column="id")
    assert torch.equal(everything(comma).inputs, everything(point).inputs)
    assert [part.comma for part in coding_of(tmp_path / "comma.csv", ignore=["id"]).columns] == [True, True]
    assert not any(part.comma for part in coding_of(tmp_path / "point.csv", ignore=["id"]).columns)


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "parquet"])
def test_decimal_commas_are_read_in_every_kind_of_file(tmp_path, ending):
    path, cells = tmp_path / f"t.{ending}", ["5,1", "3,5", "-1"]
    if ending == "tsv":
        write(path, "\n".join(["n\tm", *(f"{cell}\t1" for cell in cells)]))
    elif ending == "jsonl":
        write(path, "".join(json.dumps({"n": cell}) + "\n" for cell in cells))
    else:
        pq.write_table(pa.table({"n": cells}), path)
    [part] = coding_of(path, columns=["n"]).columns
    assert (part.kind, part.comma, part.mean) == ("number", True, pytest.approx(7.6 / 3))


def test_another_row_of_a_column_with_decimal_commas_is_read_so_and_one_with_a_point_is_quarantined(tmp_path):
    first = write(tmp_path / "a.csv", "n;m\n1,5;1\n2,5;1\n")
    more = write(tmp_path / "b.csv", "n;m\n1,5;1\n1.234;1\n1.234,5;1\n")
    found = everything(table(more, coding=coding_of(first)))
    assert found.inputs[:, 0].tolist() == [-1]
    why = "'n' is '1.234', not a finite number with a decimal comma"
    assert list(found.quarantined.values()) == [f"line 3: {why}", f"line 4: {why.replace('234', '234,5')}"]


def test_a_comma_that_may_stand_between_thousands_is_read_where_the_file_shows_what_it_is(tmp_path):
    unsure = "n;m\n1,234;{}\n12,500;1\n"
    path = write(tmp_path / "a.csv", unsure.format("0,5"))
    assert [part.mean for part in coding_of(path).columns] == pytest.approx([6.867, 0.75])
    for other in ("1", "0.5"):
        with pytest.raises(
            InputError, match=r"column 'n' holds numbers with a comma, such as '1,234', which"
        ):
            coding_of(write(path, unsure.format(other)))
    both = "n;m;p\n1,234;0,5;0.5\n12,500;0,5;1.5\n"  # commas and points: either may be between thousands
    with pytest.raises(InputError, match="column 'n' holds numbers with a comma, such as '1,234', which"):
        coding_of(write(path, both))


@pytest.mark.parametrize(
    ("content", "odd"),
    [
        ('n,m\n"5,1",1\n"3,5",1\n', "5,1"),
        ("n;m\n5,1;1\n3.5;1\n", "5,1"),
        ("n;m\n1.234,5;1\n3,5;1\n", "1.234,5"),
        ("n;m\n1,234,567;1\n1;1\n", "1,234,567"),
        ("n;m\n1,234.5;1\n1;1\n", "1,234.5"),
    ],
)
def test_numbers_with_commas_that_are_not_surely_decimal_are_refused_and_never_categories(
    tmp_path, content, odd
):
    path = write(tmp_path / "t.csv", content)
    with pytest.raises(InputError, match=f"such as '{odd}', which is not surely a decimal comma; write them"):
        coding_of(path)
    [part, _] = coding_of(path, categories=["n"]).columns  # the control: whoever says so has categories
    assert part.kind == "category"


def test_a_few_cells_that_are_no_numbers_are_named_by_line_with_commas_too(tmp_path):
    good = "".join(f"{n},5;1\n" for n in range(30))
    found = everything(table(write(tmp_path / "a.csv", f"n;m\nk.A.;1\n{good}")))
    assert list(found.quarantined.values()) == [
        "line 2: 'n' is 'k.A.', not a finite number with a decimal comma"
    ]
    pointed = "".join(f"{n}.5;1\n" for n in range(30))
    found = everything(table(write(tmp_path / "b.csv", f"n;m\n1,5;1\n{pointed}")))
    assert list(found.quarantined.values()) == ["line 2: 'n' is '1,5', not a finite number"]


def test_words_with_commas_are_categories(tmp_path):
    path = write(tmp_path / "t.csv", "n;m\nred, green;1\nblue;1\n1,5;2\n")
    assert [part.kind for part in coding_of(path).columns] == ["category", "number"]


def test_missing_columns_are_refused_with_the_nearest(tmp_path):
    path = write(tmp_path / "t.csv", CSV)
    for options in ({"columns": ["agee"]}, {"ignore": ["agee"]}, {"id_column": "agee"}):
        with pytest.raises(InputError, match="did you mean 'age'"):
            table(path, **options)


def test_embeddings_come_from_lists_of_numbers(tmp_path):
    rows = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    columns = {"id": list("abcde"), "embedding": rows.tolist()}
    pq.write_table(pa.table(columns), tmp_path / "e.parquet")
    saved(tmp_path / "e", columns, parts=3)
    lines = (json.dumps({"id": i, "embedding": row.tolist()}) for i, row in zip("abcde", rows, strict=True))
    write(tmp_path / "e.jsonl", "\n".join(lines))
    for name in ("e.parquet", "e.jsonl", "e"):
        pool = embeddings(tmp_path / name, id_column="id")
        assert list(pool.ids) == list("abcde")
        torch.testing.assert_close(everything(pool).inputs, torch.from_numpy(rows))
        assert set(embeddings(tmp_path / name).ids) == set(embeddings(tmp_path / "e.parquet").ids)


def test_a_bad_embedding_is_quarantined_with_its_line(tmp_path):
    bad = {
        "[1, 2, 3]": "line 2: 'embedding' has 3 numbers, not 2",
        "[1, NaN]": "line 2: 'embedding' holds what is not a finite number",
        "[1, 1e999]": "line 2: 'embedding' holds what is not a finite number",
        '[1, "x"]': "line 2: 'embedding' holds what is not a finite number",
        "null": "line 2: 'embedding' is missing",
        "7": "line 2: 'embedding' is a int, not a list of numbers",
        "[1": "line 2 is not JSON",
        "[" * 100_000: "line 2 is nested too deeply",
    }
    for cell, why in bad.items():
        content = f'{{"embedding": [1, 2]}}\n{{"embedding": {cell}}}\n{{"embedding": [3, 4]}}\n'
        found = everything(embeddings(write(tmp_path / "e.jsonl", content)))
        assert [reason[: len(why)] for reason in found.quarantined.values()] == [why]
        assert found.inputs.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(InputError, match="has no list of numbers in 'embedding'; the first: is missing"):
        embeddings(write(tmp_path / "e.jsonl", '{"embedding": null}\n'))
    with pytest.raises(InputError, match=r"give its columns of numbers to aw\.pool\.table"):
        embeddings(write(tmp_path / "e.csv", "embedding\n1\n"))


def test_a_saved_dataset_that_is_not_whole_is_refused_in_one_line(tmp_path):
    folder = saved(tmp_path / "d", {"n": [1, 2, 3, 4]})
    (folder / "data-00001-of-00002.arrow").unlink()
    with pytest.raises(InputError, match=r"lacks data-00001-of-00002\.arrow"):
        table(folder)
    (folder / "state.json").write_text(json.dumps({"_data_files": []}))
    with pytest.raises(InputError, match="is an empty dataset"):
        table(folder)
    (folder / "state.json").write_text("{")
    with pytest.raises(InputError, match=r"no state\.json that can be read"):
        table(folder)
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    with pytest.raises(InputError, match=r"holds several datasets; give one of them: .*train"):
        table(folder)
    other = saved(tmp_path / "o", {"n": [1, 2, 3, 4]})
    (other / "state.json").write_text(json.dumps({"_data_files": [{"filename": "../../etc/passwd"}]}))
    with pytest.raises(InputError, match="lacks passwd"):
        table(other)


@pytest.mark.parametrize("kind", ["parquet", "dataset"])
def test_a_damaged_file_gives_rows_or_one_line_and_nothing_else(tmp_path, kind):
    columns = {"n": [float(n) for n in range(200)], "s": [f"word {n % 7}" for n in range(200)]}
    if kind == "parquet":
        path = file = tmp_path / "t.parquet"
        pq.write_table(pa.table(columns), file, row_group_size=50)
    else:
        path = saved(tmp_path / "d", columns, parts=2)
        file = path / "data-00000-of-00002.arrow"
    good, rng, refused = file.read_bytes(), np.random.default_rng(0), []
    for attempt in range(60):
        content = bytearray(good)
        for _ in range(3):
            content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        if attempt % 3 == 0:
            content = content[: rng.integers(len(content))]
        file.write_bytes(content)
        try:
            pool = table(path)
        except InputError as error:
            refused.append(str(error))
        else:
            everything(pool)
    assert len(refused) > 20  # the control: the damage is seen
    assert not any("\n" in line for line in refused)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(InputError):
        table(path)
