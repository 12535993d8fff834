import numpy as np
import pytest
import torch

from askwise.errors import InputError
from askwise.pool import arrays, text

ROWS = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)


def test_a_pool_grows_and_what_was_there_stays_as_it_was():
    pool = arrays(ROWS[:6])
    before = list(pool.ids)
    read = pool.read(before).inputs
    new = pool.add(arrays(ROWS[4:]))
    assert new == list(arrays(ROWS[6:]).ids)
    assert list(pool.ids) == before + new
    assert torch.equal(pool.read(before).inputs, read)
    mixed = [new[0], before[5], new[3], before[0]]
    assert torch.equal(pool.read(mixed).inputs, torch.from_numpy(ROWS[[6, 5, 9, 0]]))
    assert pool.read(mixed).ids == mixed


def test_items_of_another_look_are_refused():
    with pytest.raises(InputError, match=r"the pool's items are float32 of shape \(3,\), and the added ones"):
        arrays(ROWS).add(arrays(ROWS[:, :2]))


def test_an_unknown_item_is_refused_by_name():
    with pytest.raises(InputError, match="the pool has no item 'nobody'"):
        arrays(ROWS).read(["nobody"])


def test_nothing_wanted_is_an_empty_tensor_of_the_right_shape():
    assert arrays(ROWS).read([]).inputs.shape == (0, 3)
    words = text(["a", "b"], encode=lambda texts: torch.zeros(len(texts), 4))
    assert words.read([]).inputs.shape == (0, 4)


def test_the_ids_of_a_pool_can_be_counted_and_read_more_than_once():
    pool = arrays(np.arange(12, dtype=np.float32).reshape(4, 3))
    assert len(pool.ids) == 4
    assert pool.read(pool.ids).ids == list(pool.ids) == list(pool.ids)
