"""The queue: the first job of the first experiment that is not done and that nobody else does."""

import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime

from provenance import code, commit

from askwise.errors import AskwiseError
from askwise.runs.rows import machine
from jobs.experiment import Experiment, Key, Row, plain
from jobs.ledger import Claim, Home, Ledger


class Queue:
    """One process that does jobs until there are none left; several may run side by side."""

    def __init__(
        self,
        experiments: Sequence[Experiment],
        home: Home,
        *,
        run: str,
        stop: Callable[[], bool],
        wanted: Callable[[Key], bool] = lambda _: True,
    ) -> None:
        self.ledgers = [Ledger(experiment, home) for experiment in experiments]
        self.run, self.stop, self.wanted = run, stop, wanted
        self.failed: list[str] = []
        self._commit, self._code = commit(), code()
        self._tried: set[tuple[str, str]] = set()
        self._ready: dict[str, bool] = {}
        self._touched: list[Ledger] = []

    def work(self) -> None:
        """Do job after job; what fails is said and left for another time."""
        try:
            while not self.stop():
                if code() != self._code:
                    self._fail("the code has changed since the queue was started; start it again")
                    break
                with ExitStack() as stack:
                    found = self._next(stack)
                    if found is None:
                        break
                    ledger, key, claim = found
                    self._do(ledger, key, claim)
                if not ledger.left():
                    self.tables([ledger])
        finally:
            self.tables(self._touched)

    def tables(self, ledgers: Sequence[Ledger]) -> None:
        """Write the tables of the experiments that have rows."""
        for ledger in ledgers:
            rows = ledger.rows()
            if not rows:
                continue
            ledger.results.mkdir(parents=True, exist_ok=True)
            try:
                ledger.experiment.tables(rows, ledger.results)
            except Exception:
                self._fail(f"{ledger.experiment.name}: its tables", traceback.format_exc())
        self._touched = [ledger for ledger in self._touched if ledger not in ledgers]

    def _next(self, stack: ExitStack) -> tuple[Ledger, Key, Claim] | None:
        """The next job, claimed until the stack is left."""
        for ledger in self.ledgers:
            for key in filter(self.wanted, ledger.left()):
                if (ledger.path.name, repr(key)) in self._tried or not self._is_ready(ledger.experiment):
                    continue
                attempt: AbstractContextManager[Claim | None] = ledger.claim(key, run=self.run)
                inner = ExitStack()
                claim = inner.enter_context(attempt)
                if claim is not None:
                    stack.push(inner.pop_all())
                    return ledger, key, claim
                inner.close()
        return None

    def _do(self, ledger: Ledger, key: Key, claim: Claim) -> None:
        experiment, name = ledger.experiment, f"{ledger.experiment.name} {_words(key)}"
        self._tried.add((ledger.path.name, repr(key)))
        started, wall, cpu = datetime.now(UTC), time.perf_counter(), time.process_time()
        conditions = machine()
        try:
            values = experiment.run(key, ledger.scratch(key, self._commit))
            seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
            ledger.append(
                Row(
                    key=dict(key),
                    protocol=experiment.protocol(key),
                    settings=plain(experiment.settings(key)),
                    values=dict(values),
                    command=f"make results ONLY={experiment.name}",
                    commit=self._commit,
                    started=started.isoformat(timespec="seconds"),
                    seconds=round(seconds, 3),
                    cpu_seconds=round(cpu_seconds, 3),
                    conditions=conditions,
                )
            )
        except Exception as error:
            claim.failed()
            told = str(error) if isinstance(error, AskwiseError) else traceback.format_exc()
            self._fail(name, told)
            return
        claim.done = True
        ledger.clear(key)
        if ledger not in self._touched:
            self._touched.append(ledger)
        print(f"{name}: {seconds:.1f} s, {len(ledger.left())} left", flush=True)

    def _is_ready(self, experiment: Experiment) -> bool:
        if experiment.name not in self._ready:
            try:
                experiment.ready()
                self._ready[experiment.name] = True
            except AskwiseError as error:
                self._ready[experiment.name] = False
                self._fail(f"{experiment.name} is left out", str(error))
        return self._ready[experiment.name]

    def _fail(self, what: str, why: str = "") -> None:
        self.failed.append(what)
        print(f"FAILED {what}" + (f": {why.rstrip()}" if why else ""), file=sys.stderr, flush=True)


def listing(ledgers: Sequence[Ledger]) -> list[str]:
    """One line for each experiment: done and declared jobs, seconds a job, hours left on one core."""
    lines = [f"{'experiment':<18}{'done':>6}{'jobs':>6}{'s/job':>8}{'hours left':>12}  what"]
    hours = 0.0
    for ledger in ledgers:
        experiment, rows = ledger.experiment, ledger.rows()
        known = [row.seconds for row in rows]
        each = sum(known) / len(known) if known else experiment.seconds
        left = (len(experiment.jobs) - len(rows)) * each / 3600
        hours += left
        said = f"{each:.1f}" if known else f"~{each:.0f}"  # a guess until a job is done
        lines.append(
            f"{experiment.name:<18}{len(rows):>6}{len(experiment.jobs):>6}{said:>8}{left:>12.2f}  {experiment.about}"
        )
    return [*lines, f"{'in all':<18}{'':>6}{'':>6}{'':>8}{hours:>12.2f}"]


def _words(key: Key) -> str:
    return " ".join(f"{name}={value}" for name, value in key.items())
