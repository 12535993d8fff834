import os
import pickle

import numpy as np
import pytest
import torch

from askwise.errors import InputError
from askwise.pool import arrays

ROWS = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)


def test_ids_follow_contents_through_shuffling_slicing_and_growth():
    pool = arrays(ROWS)
    order = np.random.default_rng(1).permutation(20)
    shuffled = arrays(ROWS[order])
    assert set(pool.ids) == set(shuffled.ids)
    wanted = list(pool.ids)[3:7]
    assert torch.equal(pool.read(wanted).inputs, shuffled.read(wanted).inputs)
    assert torch.equal(pool.read(wanted).inputs, torch.from_numpy(ROWS[3:7]))


def test_a_memory_mapped_file_reads_as_the_array_in_it(tmp_path):
    np.save(tmp_path / "x.npy", ROWS)
    pool = arrays(tmp_path / "x.npy")
    assert list(pool.ids) == list(arrays(ROWS).ids)
    assert torch.equal(pool.read(list(pool.ids)).inputs, torch.from_numpy(ROWS))


def test_equal_rows_are_numbered_whatever_their_order():
    rows = np.array([[1.0], [2.0], [1.0]])
    pool = arrays(rows)
    assert len(pool) == 3
    assert set(pool.ids) == set(arrays(rows[::-1]).ids)
    assert sum("~2" in identity for identity in pool.ids) == 1


def test_nan_and_infinity_are_quarantined_and_change_no_other_item():
    rows = ROWS.copy()
    rows[4, 1], rows[9, 0] = np.nan, np.inf
    pool = arrays(rows, ids=range(20))
    found = pool.read([str(number) for number in range(20)])
    assert found.quarantined == dict.fromkeys(["4", "9"], "it holds NaN or infinite numbers")
    assert torch.equal(found.inputs, torch.from_numpy(np.delete(ROWS, [4, 9], axis=0)))
    assert found.ids == [str(number) for number in range(20) if number not in (4, 9)]


def test_numbers_become_what_networks_take():
    assert arrays(ROWS.astype(np.float64)).like().dtype == torch.float32
    assert arrays(np.array([[1, 2]], dtype=np.uint16)).like().dtype == torch.int64
    assert arrays(torch.ones(2, 2, dtype=torch.float16)).like().dtype == torch.float32
    pixels = arrays(np.array([[0, 255]], dtype=np.uint8), scale=1 / 255)
    assert pixels.read(list(pixels.ids)).inputs.tolist() == [[0.0, 1.0]]


def _object(path):
    np.save(path, np.array([{}, []], dtype=object), allow_pickle=True)


def _several(path):
    with path.open("wb") as file:
        np.savez(file, a=ROWS)


def _claims(shape):
    def write(path):
        with path.open("wb") as file:
            np.lib.format.write_array_header_1_0(
                file, {"descr": "<f4", "fortran_order": False, "shape": shape}
            )
            file.write(b"1234")

    return write


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (_object, "cannot be read as a .npy array: "),
        (_claims((10**10, 990)), "cannot be read as a .npy array: "),
        (_claims((5, 3)), "cannot be read as a .npy array: "),
        (lambda path: path.write_bytes(b""), "cannot be read as a .npy array: "),
        (lambda path: path.write_text("hello"), "cannot be read as a .npy array: "),
        (_several, r"several arrays \(.npz\)"),
        (lambda path: None, "there is no file"),
    ],
)
def test_a_file_that_is_no_array_is_refused_by_name(tmp_path, write, message):
    write(tmp_path / "x.npy")
    with pytest.raises(InputError, match=message) as caught:
        arrays(tmp_path / "x.npy")
    assert "x.npy" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_damaged_header_gives_rows_or_one_line_and_nothing_else(tmp_path):
    np.save(tmp_path / "x.npy", ROWS)
    good, refused = (tmp_path / "x.npy").read_bytes(), []
    for place in range(128):
        content = bytearray(good)
        content[place] ^= 1 << place % 8
        (tmp_path / "x.npy").write_bytes(content)
        try:
            arrays(tmp_path / "x.npy")
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 30
    assert not any("\n" in line for line in refused)
    (tmp_path / "x.npy").unlink()
    os.mkfifo(tmp_path / "x.npy")
    with pytest.raises(InputError, match="there is no file"):
        arrays(tmp_path / "x.npy")


@pytest.mark.parametrize(
    "rows", [np.array(["a", "b"]), np.array([1j]), np.array(3.0), np.array([None], dtype=object)]
)
def test_what_are_not_rows_of_numbers_is_refused(rows):
    with pytest.raises(InputError, match="an array of numbers with one row for each item"):
        arrays(rows)


def test_bytes_without_a_scale_are_refused_and_so_is_an_empty_array():
    with pytest.raises(InputError, match="scale=1/255 for pixels"):
        arrays(np.zeros((2, 2), dtype=np.uint8))
    with pytest.raises(InputError, match="there are no items"):
        arrays(np.zeros((0, 2)))


def carried(pool):
    """The pool as another process of a cluster receives it, and how many bytes it took."""
    content = pickle.dumps(pool)
    return pickle.loads(content), len(content)  # noqa: S301 - made in the line before


def test_a_file_travels_by_its_name_and_an_array_as_a_whole(tmp_path, monkeypatch):
    rows = np.random.default_rng(0).normal(size=(20, 5000))
    np.save(tmp_path / "x.npy", rows)
    monkeypatch.chdir(tmp_path)
    pool = arrays("x.npy", scale=2.0)
    monkeypatch.chdir("/")  # where another process may be
    again, size = carried(pool)
    assert list(again.ids) == list(pool.ids)
    assert torch.equal(again.read(list(again.ids)).inputs, pool.read(list(pool.ids)).inputs)
    assert size < 10_000
    assert carried(arrays(rows))[1] > rows.nbytes


def test_another_file_under_the_same_name_is_refused_where_it_arrives(tmp_path):
    np.save(tmp_path / "x.npy", ROWS)
    content = pickle.dumps(arrays(tmp_path / "x.npy"))
    for other in (ROWS[:-1], ROWS.astype(np.float64), ROWS[::-1]):
        np.save(tmp_path / "x.npy", other)
        with pytest.raises(InputError, match=r"x\.npy is not the same file here as where the pool was made"):
            pickle.loads(content)  # noqa: S301
    (tmp_path / "x.npy").unlink()
    with pytest.raises(InputError, match="there is no file"):
        pickle.loads(content)  # noqa: S301
