"""One run of the benchmark: its sizes, its contestants, its data and the limits measured on the way."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import numpy as np
import torch
from torch import Tensor

from speed.limit import gemm_gflops
from speed.process import Contestant
from speed.sizes import Sizes


class Bench:
    """Contestants are started once and stay; everything ends with the `with` block."""

    def __init__(self, sizes: Sizes, *, threads: int) -> None:
        self.sizes, self.threads = sizes, threads
        self.limits: list[float] = []
        self._contestants: dict[str, Contestant] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="askwise-bench-")

    def __enter__(self) -> "Bench":
        self.limit()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for contestant in self._contestants.values():
            contestant.close()
        self._folder.cleanup()

    def limit(self, threads: int | None = None) -> float:
        """GFLOP/s at this moment; with all threads it is kept for the record."""
        found = gemm_gflops(threads or self.threads)
        if threads in (None, self.threads):
            self.limits.append(found)
        return found

    def contestant(self, name: str) -> Contestant:
        """The long-lived process of that contestant."""
        if name not in self._contestants:
            self._contestants[name] = self.fresh(name)
        return self._contestants[name]

    def fresh(self, name: str) -> Contestant:
        """A process that has done nothing yet, for figures of memory; the caller closes it."""
        return Contestant(name, threads=self.threads)

    def images(self) -> str:
        """A file of generated images, as many as the largest pool."""
        sizes = self.sizes
        most = max(*sizes.pools, *sizes.all_n, sizes.n, sizes.peer_n, sizes.few_n, sizes.train_n)

        def make() -> Tensor:
            return torch.rand(most, 1, 28, 28, generator=torch.Generator().manual_seed(0))

        return self.file("images", make)

    def sentences(self) -> str:
        """A file of generated sentences: the numbers of 32 words each."""
        rng = torch.Generator().manual_seed(0)
        count = max(64, self.sizes.sentences)
        return self.file("sentences", lambda: torch.randint(0, 1_000, (count, 32), generator=rng))

    def file(self, name: str, make: Callable[[], Tensor]) -> str:
        """The .npy file of that name, made on first use."""
        path = Path(self._folder.name) / f"{name}.npy"
        if not path.exists():
            np.save(path, make().numpy())
        return str(path)
