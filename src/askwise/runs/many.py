"""Several runs side by side: whole runs go where a plan's engine sends shards of a pool otherwise."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

from askwise.engine import Engine, ShardResult, Work
from askwise.errors import AskwiseError, InputError
from askwise.oracle import Question
from askwise.runs.build import SIMULATED
from askwise.runs.one import Ended, OnRound, Run, how_good, run_one
from askwise.store import Place, open_store, shown
from askwise.store.facts import Round
from askwise.train.progress import Follow

_EVERY = 1.0  # seconds between two looks at the stores


def run_all(
    runs: Sequence[Run],
    engine: Engine,
    *,
    source: str | None,
    exact: bool = False,
    on_round: OnRound = lambda *_: None,
    progress: Callable[[str], Follow] = lambda _: False,
) -> list[Ended]:
    """How each run ended: one after the other here, or as many at a time as the engine has workers.

    `progress` gives the progress bar of a run by its name; runs in other processes show none.
    """
    _refuse_same([run.store for run in runs])
    if len(runs) == 1 or engine.workers == 1:
        return [
            run_one(run, source=source, exact=exact, on_round=on_round, progress=progress(run.name))
            for run in runs
        ]

    # A machine of a cluster may stand in another folder.
    elsewhere = [
        replace(run, store=run.store.absolute() if isinstance(run.store, Path) else run.store) for run in runs
    ]
    answers = source if source is None or source == SIMULATED else str(Path(source).absolute())

    def make() -> Work:
        def compute(place: int) -> ShardResult:
            ended = run_one(elsewhere[place], source=answers, exact=exact)
            return ShardResult((), {**vars(ended), "questions": [vars(asked) for asked in ended.questions]})

        return Work(lambda shard: shard[0], compute)

    with _watched(runs, on_round):
        found = [one.notes for one in engine.map(make, ([place] for place in range(len(runs))))]
    return [_ended(notes) for notes in found]


def _ended(notes: dict[str, Any]) -> Ended:
    return Ended(**{**notes, "questions": [Question(**asked) for asked in notes["questions"]]})


def _refuse_same(stores: Sequence[Place]) -> None:
    for store in stores:
        if list(stores).count(store) > 1:
            raise InputError(f"two of the runs are kept in {shown(store)}; give their plans different stores")


@contextmanager
def _watched(runs: Sequence[Run], on_round: OnRound) -> Iterator[None]:
    """Inside it `on_round` is called with what the stores hold."""
    ended = Event()

    def look() -> None:
        while not ended.wait(_EVERY):
            for run in runs:
                _show(run, on_round)

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        for run in runs:
            _show(run, on_round)


def _show(run: Run, on_round: OnRound) -> None:
    try:
        store = open_store(run.store, access="read")
    except AskwiseError:
        return  # it is not there yet
    try:
        rounds = store.facts(Round)
    finally:
        store.close()
    if rounds:
        on_round(run.name, rounds[-1].labels, how_good(run.plan, rounds[-1]))
