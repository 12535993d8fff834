"""Nine regression tables of the UCI repository, with the train and test splits that Gal used."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from askwise.data import files
from askwise.data.dataset import Dataset, Part
from askwise.errors import CorruptError, InputError

_LARGEST = 16 * 2**20  # bytes of one file; the largest has 1.7 million


@dataclass(frozen=True, eq=False)
class Table:
    """Inputs and one target for every row, and which rows each split tests on."""

    name: str
    x: Float64[Tensor, "N D"]
    y: Float64[Tensor, "N 1"]
    is_test: Bool[Tensor, "splits N"]

    def split(
        self, number: int
    ) -> tuple[
        Float64[Tensor, "n D"], Float64[Tensor, "n 1"], Float64[Tensor, "m D"], Float64[Tensor, "m 1"]
    ]:
        """Inputs and targets to learn from, then those to test on, in the units of the data."""
        test = self._test(number)
        return self.x[~test], self.y[~test], self.x[test], self.y[test]

    def dataset(self, number: int) -> Dataset:
        """One split as a data set; a row has the same id in all of them."""
        test = self._test(number)
        train, held = self._part((~test).nonzero()), self._part(test.nonzero())
        return Dataset(self.name, (), *train, *held, task="regression")

    def _test(self, number: int) -> Bool[Tensor, " N"]:
        if isinstance(number, bool) or number not in range(len(self.is_test)):
            raise InputError(f"{self.name} has the splits 0 to {len(self.is_test) - 1}, not {number!r}")
        return self.is_test[number]

    def _part(self, rows: Tensor) -> Part:
        at = rows.flatten()
        return Part(
            self.x[at].float(), self.y[at].float(), tuple(f"{self.name}-{row:05d}" for row in at.tolist())
        )


@dataclass(frozen=True)
class UciSet:
    """What a file must hold."""

    name: str
    digest: str
    rows: int
    columns: int
    splits: int = 20
    classes: tuple[str, ...] = ()

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 sum of its file."""
        return {f"{self.name.partition('/')[2]}.npz": self.digest}

    def dataset(self, folder: Path, *, split: int = 0) -> Dataset:
        """One of the splits."""
        return self.table(folder).dataset(split)

    def table(self, folder: Path) -> Table:
        """All rows, and which of them each split tests on."""
        ((file, digest),) = self.digests.items()
        path, content = files.published(folder, file, digest=digest, limit=_LARGEST)
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                found = {key: np.asarray(stored[key]) for key in ("X", "y", "is_test")}
        except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile) as reason:
            raise CorruptError(f"{path} is not a table in npz form: {reason}") from reason
        wanted = {
            "X": (self.rows, self.columns),
            "y": (self.rows,),
            "is_test": (self.splits, self.rows),
        }
        for key, shape in wanted.items():
            if found[key].shape != shape:
                raise CorruptError(f"{path} holds {key} of shape {found[key].shape}, not {shape}")
        return Table(
            self.name,
            torch.from_numpy(found["X"].astype(np.float64)),
            torch.from_numpy(found["y"].astype(np.float64))[:, None],
            torch.from_numpy(found["is_test"].astype(bool)),
        )


_PUBLISHED = {
    "0c90222a81f1df2d0c06f1e58456d45e1149f1efb3333bb31feb692be56f21d6": ("bostonHousing", 506, 13, 20),
    "ca2874f7b3635ded25faf7c7cc03de862632402146c92065ef423ff93e8012a7": ("concrete", 1030, 8, 20),
    "d60b420363d401a304313d29f785fb75ab189295ebd3c88851bf623679d367b7": ("energy", 768, 8, 20),
    "dfec323e704433631c721e2189d16571f990fd9f95a698fb88e980a23295deae": ("kin8nm", 8192, 8, 20),
    "a5a974ca65b9d4e5dbda0041d2a4b0fef8471e3b96df4169d2f098af66438af9": (
        "naval-propulsion-plant", 11934, 16, 20,
    ),
    "6b28fd41a720dafd530db2c46523bc20f7512d6174019357912a87aaa134d5e8": ("power-plant", 9568, 4, 20),
    "2fe88f228a642f5f6368c6d533540424c1caeae2ead1711793f91f86477e8b64": (
        "protein-tertiary-structure", 45730, 9, 5,
    ),
    "2956f9f45ebddc6759e492fc21639c3f91bfdac27f922513e36668414ed84274": ("wine-quality-red", 1599, 11, 20),
    "bdcc8d6c2dd93da2c83af777c8221628da54a5af83fb1ec9fb1f53a8443a4d73": ("yacht", 308, 6, 20),
}  # fmt: skip
UCI = {
    f"uci/{file}": UciSet(f"uci/{file}", digest, rows, columns, splits)
    for digest, (file, rows, columns, splits) in _PUBLISHED.items()
}
