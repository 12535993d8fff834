"""How much memory a tree of processes uses, pages that they share counted once."""

import threading
from pathlib import Path
from types import TracebackType

_PROC = Path("/proc")


def tree(root: int) -> list[int]:
    """A process and all that descend from it."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        for task in (_PROC / str(pid) / "task").glob("*/children"):
            try:
                waiting.extend(map(int, task.read_text().split()))
            except OSError:  # it has just ended
                continue
    return found


def pss_mb(root: int) -> float:
    """Proportional set size of the whole tree, in MB."""
    total = 0
    for pid in tree(root):
        try:
            text = (_PROC / str(pid) / "smaps_rollup").read_text()
        except OSError:  # it has just ended
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total / 1024


class Watch:
    """The memory before and the highest while something runs: `with Watch(pid, every=0.01) as watch`."""

    def __init__(self, root: int, *, every: float) -> None:
        self._root, self._every = root, every
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.before = self.peak = 0.0

    def __enter__(self) -> "Watch":
        self.before = self.peak = pss_mb(self._root)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._thread.join()

    @property
    def beyond(self) -> float:
        """MB above what there was before: data and model are not counted."""
        return self.peak - self.before

    def _look(self) -> None:
        while not self._end.wait(self._every):
            self.peak = max(self.peak, pss_mb(self._root))
