import pytest
import torch
from torch.utils.data import Dataset, TensorDataset

from askwise.errors import InputError
from askwise.pool import dataset

ROWS = torch.randn(8, 2, generator=torch.Generator().manual_seed(0))


class Troubled(Dataset):
    """Rows, of which some raise, some are of another shape or kind."""

    def __len__(self):
        return len(ROWS)

    def __getitem__(self, position):
        match position:
            case 0:
                raise OSError("the tape is torn")
            case 2:
                return ROWS[position][:1]
            case 3:
                return "text", 1
            case 4:
                return ROWS[position].long()
        return ROWS[position].double(), 7


def test_entries_are_read_by_content_whatever_their_order():
    pool = dataset(TensorDataset(ROWS, torch.zeros(8)))
    backwards = dataset(TensorDataset(ROWS.flip(0)))
    wanted = list(pool.ids)[2:5]
    assert torch.equal(pool.read(wanted).inputs, backwards.read(wanted).inputs)
    assert torch.equal(pool.read(wanted).inputs, ROWS[2:5])


def test_bad_entries_are_quarantined_by_reason_and_change_no_other():
    pool = dataset(Troubled(), ids=range(8))
    found = pool.read(list(pool.ids))
    assert found.quarantined == {
        "0": "entry 0 cannot be read: OSError: the tape is torn",
        "2": "it is float32 of shape (1,), and the pool's items are float32 of shape (2,)",
        "3": "entry 3 is a str, not a tensor; add a transform to the dataset",
        "4": "it is int64 of shape (2,), and the pool's items are float32 of shape (2,)",
    }
    assert found.ids == ["1", "5", "6", "7"]
    assert torch.equal(found.inputs, ROWS[[1, 5, 6, 7]])


def test_entries_without_contents_still_get_an_id():
    assert "entry-0" in dataset(Troubled())


def test_augmentation_is_refused_because_ids_could_not_last():
    class Shaken(Dataset):
        def __len__(self):
            return 3

        def __getitem__(self, position):
            return torch.rand(2)

    with pytest.raises(InputError, match="other values each time it is read; turn augmentation off"):
        dataset(Shaken())


def test_iterable_and_hopeless_datasets_are_refused():
    with pytest.raises(InputError, match="not an iterable one"):
        dataset(iter(ROWS))
    with pytest.raises(InputError, match="no entry of the dataset can be read; the first: entry 0 is a str"):
        _ = dataset(["text"]).like()
