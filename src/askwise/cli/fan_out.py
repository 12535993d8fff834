"""Several runs side by side: whole runs go where a plan's engine sends shards of a pool otherwise."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

from askwise.cli.live import Bars, Tell
from askwise.cli.one_run import run_one
from askwise.engine import Engine, Found, Work
from askwise.errors import AskwiseError
from askwise.loop.plan import Plan
from askwise.planned import SIMULATED, Material
from askwise.store import open_store
from askwise.store.facts import Round

_EVERY = 1.0  # seconds between two looks at the stores


@dataclass(frozen=True)
class Run:
    """A plan with its data, and where its run is kept."""

    plan: Plan
    known: Material
    store: Path


def run_all(
    runs: Sequence[Run], engine: Engine, *, source: str | None, tell: Bars, exact: bool
) -> list[dict[str, Any]]:
    """How each run ended: one after the other here, or as many at a time as the engine has workers."""
    if len(runs) == 1 or engine.workers == 1:
        return [
            run_one(
                run.plan, run.known, run.store, source, tell, exact=exact, follow=tell.doing(str(run.store))
            )
            for run in runs
        ]

    # A machine of a cluster may stand in another folder.
    stores = [run.store.absolute() for run in runs]
    answers = source if source is None or source == SIMULATED else str(Path(source).absolute())

    def make() -> Work:
        def compute(place: int) -> Found:
            run = runs[place]
            silent: Tell = lambda *_: None  # noqa: E731 - the bars are in another process
            ended = run_one(run.plan, run.known, stores[place], answers, silent, exact=exact)
            return Found((), {**ended, "store": str(run.store)})

        return Work(lambda shard: shard[0], compute)

    with _watched([run.store for run in runs], tell):
        return [found.notes for found in engine.map(make, ([place] for place in range(len(runs))))]


@contextmanager
def _watched(stores: Sequence[Path], tell: Tell) -> Iterator[None]:
    """Inside it the bars follow what the stores hold."""
    ended = Event()

    def look() -> None:
        while not ended.wait(_EVERY):
            for store in stores:
                _show(store, tell)

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        for store in stores:
            _show(store, tell)


def _show(path: Path, tell: Callable[[str, int, float | None], None]) -> None:
    try:
        store = open_store(path, read_only=True)
    except AskwiseError:
        return  # it is not there yet
    try:
        rounds = store.facts(Round)
    finally:
        store.close()
    if rounds:
        tell(str(path), rounds[-1].labels, rounds[-1].metrics.get("test", {}).get("accuracy"))
