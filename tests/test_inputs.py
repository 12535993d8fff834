"""Whatever holds items gives the same predictions; what holds none is refused in one line."""

import numpy as np
import pandas
import pyarrow
import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import askwise as aw
from askwise.errors import InputError
from askwise.inputs import as_rows

X = torch.randn(30, 6, generator=torch.Generator().manual_seed(0))
Y = torch.arange(30) % 3


@pytest.fixture(scope="module")
def fitted() -> aw.Fitted:
    return aw.fit(aw.nets.mlp(6, 3, hidden=(8,)), (X, Y), training=aw.Training(epochs=3))


COLUMNS = {f"c{at}": X[:, at].numpy() for at in range(6)}


HOLDERS = {
    "tensor": lambda: X,
    "double": lambda: X.double(),
    "array": lambda: X.numpy(),
    "float64": lambda: X.numpy().astype(np.float64),
    "dataset": lambda: TensorDataset(X),
    "pairs": lambda: TensorDataset(X, Y),
    "loader": lambda: DataLoader(TensorDataset(X, Y), batch_size=7, shuffle=True),
    "pool": lambda: aw.pool.arrays(X.numpy()),
    "pool of a dataset": lambda: aw.pool.dataset(TensorDataset(X)),
    "arrow": lambda: pyarrow.table(COLUMNS),
    "pandas": lambda: pandas.DataFrame(COLUMNS),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_every_holder_of_items_is_predicted_and_scored_alike(name: str, fitted: aw.Fitted) -> None:
    items = HOLDERS[name]()
    assert torch.equal(aw.predict(fitted, items, draws=5).mean, aw.predict(fitted, X, draws=5).mean)
    assert torch.equal(
        aw.score_pool(fitted, items, "bald", draws=5), aw.score_pool(fitted, X, "bald", draws=5)
    )
    assert torch.equal(aw.features(fitted, items), aw.features(fitted, X))


@pytest.mark.parametrize("name", ["double", "array", "float64", "pool", "arrow", "pandas"])
def test_every_holder_of_items_is_learned_and_evaluated_alike(name: str, fitted: aw.Fitted) -> None:
    items = HOLDERS[name]()
    torch.manual_seed(0)
    short, network = aw.Training(epochs=2), aw.nets.mlp(6, 3, hidden=(8,))
    assert (
        aw.fit(network, (items, Y), training=short).digest()
        == aw.fit(network, (X, Y), training=short).digest()
    )
    assert aw.evaluate(fitted, (items, Y), draws=5) == aw.evaluate(fitted, (X, Y), draws=5)
    assert aw.calibrate(fitted, (items, Y), draws=5).temperature == pytest.approx(
        aw.calibrate(fitted, (X, Y), draws=5).temperature
    )


def test_datasets_and_loaders_of_pairs_are_learned_alike() -> None:
    network, short = aw.nets.mlp(6, 3, hidden=(8,)), aw.Training(epochs=2)
    pairs = TensorDataset(X.double(), Y)
    expected = aw.fit(network, (X, Y), training=short).digest()
    assert aw.fit(network, pairs, training=short).digest() == expected
    assert aw.fit(network, DataLoader(pairs, shuffle=True), training=short).digest() == expected


@pytest.mark.parametrize("name", HOLDERS)
def test_a_learner_takes_every_holder_of_items(name: str) -> None:
    with aw.Learner(aw.nets.mlp(6, 3, hidden=(8,)), pool=HOLDERS[name](), classes=3, batch=4) as learner:
        first = learner.ask()[0]
        assert torch.equal(learner.item(first.id).inputs, X[first.row])
        assert first.name == f"x[{first.row}]"


class Endless(IterableDataset):
    def __iter__(self):
        yield X[0]


BAD = {
    "no items": (X[:0], r"at least one item \[N, ...\]; their shape is \[0, 6\]"),
    "a number": (torch.tensor(3.0), "at least one item"),
    "text": ("photos/", "not str"),
    "a mapping": ({"a": X}, "not dict"),
    "an endless dataset": (Endless(), "an IterableDataset has no length"),
    "words": (np.array([["a"], ["b"]]), "inputs must be numbers, not <U1"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_holds_no_items_is_refused_in_one_line(name: str, fitted: aw.Fitted) -> None:
    given, message = BAD[name]
    with pytest.raises(InputError, match=message) as caught:
        aw.predict(fitted, given, draws=2)
    assert "\n" not in str(caught.value)


def test_a_column_of_words_is_named() -> None:
    frame = pandas.DataFrame({"age": [1.0, 2.0], "city": ["Rome", "Oslo"]})
    with pytest.raises(InputError, match="column 'city' of the table is object, not numbers"):
        as_rows(frame)


def test_items_of_two_shapes_are_named() -> None:
    ragged = [torch.zeros(2), torch.zeros(3)]

    class Ragged(torch.utils.data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, at):
            return ragged[at]

    with pytest.raises(InputError, match=r"the first is \[2\] and the one at position 1 is \[3\]"):
        as_rows(Ragged())[0:2]
