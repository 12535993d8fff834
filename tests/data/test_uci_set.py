import numpy as np
import pytest
import torch
from tiny_data import npz, put, uci_contents, uci_set

from askwise.errors import CorruptError, InputError


def table(tmp_path):
    return uci_set(uci_contents()).table(put(tmp_path, uci_contents()))


def test_a_split_has_the_rows_that_it_tests_on(tmp_path):
    x, y, test_x, test_y = table(tmp_path).split(0)
    assert test_x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert test_y.tolist() == [[0], [100]]
    assert (x.shape, y.shape) == ((8, 3), (8, 1))
    assert x.dtype == y.dtype == torch.float64


def test_every_row_is_in_exactly_one_part_of_every_split(tmp_path):
    found = table(tmp_path)
    for number in range(2):
        x, _, test_x, _ = found.split(number)
        assert sorted([*x[:, 0].tolist(), *test_x[:, 0].tolist()]) == found.x[:, 0].tolist()


def test_a_row_has_the_same_id_in_every_split(tmp_path):
    kind, folder = uci_set(uci_contents()), put(tmp_path, uci_contents())
    first, second = kind.dataset(folder), kind.dataset(folder, split=1)
    assert first.task == "regression"
    assert first.test_ids == ("uci/yacht-00000", "uci/yacht-00001")
    rows = {
        one: row.tolist()
        for data in (first, second)
        for one, row in zip(data.train_ids + data.test_ids, [*data.train_x, *data.test_x], strict=True)
    }
    assert rows == {f"uci/yacht-{at:05d}": [3.0 * at, 3.0 * at + 1, 3.0 * at + 2] for at in range(10)}


@pytest.mark.parametrize("number", [2, -1, True])
def test_a_split_that_is_not_there_is_refused(tmp_path, number):
    with pytest.raises(InputError, match=f"uci/yacht has the splits 0 to 1, not {number}"):
        table(tmp_path).split(number)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no table", "yacht.npz is not a table in npz form"),
        (npz(X=np.zeros((10, 3)), y=np.zeros(10)), "yacht.npz is not a table in npz form.*is_test"),
        (
            npz(X=np.zeros((9, 3)), y=np.zeros(9), is_test=np.zeros((2, 9), dtype=bool)),
            r"yacht.npz holds X of shape \(9, 3\), not \(10, 3\)",
        ),
    ],
    ids=["no npz", "no splits", "a row too few"],
)
def test_what_is_no_such_table_is_refused(tmp_path, content, message):
    contents = {"yacht.npz": content}
    with pytest.raises(CorruptError, match=message):
        uci_set(contents).table(put(tmp_path, contents))


def test_objects_in_a_table_are_not_unpickled(tmp_path):
    contents = {"yacht.npz": npz(X=np.array([{}], dtype=object), y=np.zeros(1), is_test=np.zeros(1))}
    with pytest.raises(CorruptError, match="Object arrays cannot be loaded"):
        uci_set(contents).table(put(tmp_path, contents))
