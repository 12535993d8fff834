"""What may never happen, tried: runs the long proofs and the speed of a large store, writes results/reliability.md.

    OMP_NUM_THREADS=1 .venv/bin/python benchmarks/reliability.py [--only threads,flips,speed] [--tables]

A proof is some slow tests with a control beside them that must fail; each counts what it has tried.
"""

import argparse
import json
import os
import shlex
import tempfile
import time
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from provenance import commit

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "results" / "reliability.md"
KEPT = ROOT / "results" / "reliability.jsonl"
SPEED = ROOT / "results" / "reliability.json"

PROOFS = {
    "threads": (
        "ask, tell, predict, status from 8 threads: the facts of one thread",
        ["tests/loop/test_threads.py"],
        "every thread may act; draws do not wait for a trace",
    ),
    "answerers": (
        "20 answerers x 5,000 items, double submits, abandoned leases, trainer killed ten times",
        ["tests/store/test_answerers.py", "-k", "twenty"],
        "check-then-act",
    ),
    "server": (
        "PostgreSQL killed (-9, all its processes) amid answers, every one replayed",
        ["tests/store/test_postgres.py", "-k", "lost"],
        "synchronous_commit=off",
    ),
    "power cuts": (
        "power cuts on a simulated disk: answers, leases, checkpoints, added items",
        ["tests/loop/test_power_cut.py"],
        "synchronous=NORMAL, FULL, OFF; checkpoints without fsync",
    ),
    "flips": (
        "bit flips and cut files: database, its journal, checkpoints, features, added items",
        ["tests/loop/test_damaged.py", "tests/store/test_care.py"],
        "the same files read without sums",
    ),
    "shards": (
        "a bit flipped in every byte of the journal of finished shards, and every cut of it",
        ["tests/engine/test_engine_journal.py", "-k", "every"],
        "a reader that does not check",
    ),
    "disk full": (
        "no space: at every write of a run, at every write of SQLite, on a small disk of every size",
        ["tests/loop/test_resume.py", "tests/loop/test_small_disk.py", "-k", "full"],
        "a store that ignores the error",
    ),
    "kills": (
        "kill -9 of trainer and answerers, at every write and at random",
        ["tests/loop/test_resume.py", "tests/store/test_answerers.py", "-k", "killed and not twenty"],
        "a store that forgets",
    ),
    "page": (
        "kill -9 of server, trainer and encoder at random while a person answers",
        ["tests/web/test_killed_page.py"],
        "a lost and a doubled answer are found",
    ),
    "requests": (
        "requests that the OpenAPI allows and forbids: no 5xx, every reply as described",
        ["tests/web/test_openapi.py"],
        "a route that fails",
    ),
    "markup": (
        "hostile text in every place that the page shows, in a real browser without its policy: none runs",
        ["tests/web/browser/test_page_markup.py"],
        "as markup it runs",
    ),
    "guard": (
        "paths out of the pool; requests that another site can cause: none passes",
        ["tests/web/test_guard.py", "-k", "traversal or another_site"],
        "the page's own request passes",
    ),
}


SHORT = ("shards", "guard")
"""Proofs that are whole in `make test` already."""


class Keep:
    """Appends what each test counted to a file, and leaves out the tests that are there already."""

    def __init__(self, proof: str) -> None:
        self._proof = proof
        self._of = 0
        self._done = {one["test"] for one in kept() if one["proof"] == proof and one["passed"]}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        self._of = len(items)
        rest = [item for item in items if item.nodeid not in self._done]
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in self._done])
        items[:] = rest

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.failed:
            one = {
                "proof": self._proof,
                "test": report.nodeid,
                "of": self._of,
                "commit": commit(),
                "date": date.today().isoformat(),
                "seconds": round(report.duration, 1),
                "passed": report.passed,
                "counts": dict(report.user_properties),
            }
            if not report.passed:
                one["said"] = str(report.longrepr)[-500:]
            with KEPT.open("a") as file:
                file.write(json.dumps(one) + "\n")


def kept() -> list[dict[str, Any]]:
    """Every line kept so far; the last one of a test holds."""
    lines = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    return list({(one["proof"], one["test"]): one for one in lines}.values())


def prove(name: str) -> None:
    """Run the tests of a proof that have not passed yet."""
    what = PROOFS[name][1]
    slow = [] if name in SHORT else ["-m", "slow"]
    os.environ["ASKWISE_UNCHECKED"] = "1"  # checked shapes take most of the time, and `make test` has them
    pytest.main(["-q", "-p", "no:cacheprovider", *slow, *what], plugins=[Keep(name)])


def speed(items: int, answers: int) -> dict[str, object]:
    """Seconds of what must not grow with the history, without fsyncs."""
    import numpy as np
    from torch import nn

    from askwise.loop.learner import Learner
    from askwise.loop.plan import make
    from askwise.loop.setting import count_items
    from askwise.loop.status import status
    from askwise.pool import arrays
    from askwise.store.facts import Answer, ClassEdit, Item, Planned, Round, Segment
    from askwise.store.ledger import Ledger
    from askwise.store.sql import SqlStore, connecting

    connecting.DURABLE = "OFF"
    found: dict[str, object] = {}

    def timed(what: str, action, count: int = 1):
        started, used = time.perf_counter(), time.process_time()
        result = action()
        found[what] = [(time.perf_counter() - started) / count, (time.process_time() - used) / count]
        print(f"{what}: {found[what][0]:.5f} s, {found[what][1]:.5f} s of the processor", flush=True)
        return result

    def answer(number: int) -> Answer:
        return Answer(id=f"item-{number:07d}", key="k", verdict="label", label=number % 10)

    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        store = SqlStore(Path(folder) / "run.db")
        store.append([ClassEdit(edit="add", number=number, name=str(number)) for number in range(10)])
        store.append([Planned(plan=make({"classes": 10}).model_dump(mode="json")), Segment(conditions={})])
        timed(
            f"{items:,} items taken in", lambda: store.append(Item(id=f"item-{n:07d}") for n in range(items))
        )
        singles = min(2000, answers // 4)
        timed(
            "one answer stored at the beginning",
            lambda: [store.answer([answer(n)]) for n in range(singles)],
            singles,
        )
        rest = range(singles, answers - singles)
        for start in range(rest.start, rest.stop, 1000):
            store.answer([answer(number) for number in range(start, min(start + 1000, rest.stop))])
        late = range(answers - singles, answers)
        timed(
            f"one answer stored after {late.start:,}",
            lambda: [store.answer([answer(n)]) for n in late],
            singles,
        )
        metrics = {"metrics": {}, "seconds": {}, "weights": "", "checkpoint": ""}
        store.append([Round(number=1, seen=store.revision - 100, labels=answers - 100, **metrics)])
        ledger = Ledger(store)
        timed("the history read, when an item is first asked for", ledger.refresh)
        last = store.last(Round)

        def step() -> None:
            number = answers + step.count
            step.count += 1
            store.answer([answer(number)])
            ledger.refresh()
            count_items(store, last, ledger=ledger)

        step.count = 0
        timed("a step: an answer stored, counted, decided on", lambda: [step() for _ in range(200)], 200)
        store.close()
        names, path = [f"item-{n:07d}" for n in range(items)], Path(folder) / "run.db"
        pool = timed("the pool listed", lambda: arrays(np.zeros((items, 2), np.float32), ids=names))

        def opened() -> None:
            Learner(nn.Linear(2, 10), pool=pool, classes=10, store=path).close()

        timed("a run opened with another pool: every id compared", opened)
        timed("a run opened again, nothing new", opened)
        reader = timed("a reader opened", lambda: SqlStore(Path(folder) / "run.db", access="read"))
        timed("status", lambda: status(reader))
        timed("every id listed", lambda: sum(1 for _ in reader.ids()))
        reader.close()
        _tested(path, pool, answers, timed)
        found["megabytes"] = (Path(folder) / "run.db").stat().st_size / 2**20
    return found


def _tested(path: Path, pool, answers: int, timed) -> None:
    """The same run where a fifth of the questions tests the model: before and after it was first tested."""
    import torch

    from askwise.assess import Spread
    from askwise.loop.learner import Learner
    from askwise.loop.noted import TESTING, note_tests
    from askwise.loop.plan import make
    from askwise.loop.status import status
    from askwise.loop.testing import Testing
    from askwise.store.facts import Answer, Planned, Question, Round
    from askwise.store.ledger import Ledger
    from askwise.store.sql import SqlStore

    plan = make({"classes": 10, "testing": 0.2, "region": 0.3})
    store = SqlStore(path)
    store.append([Planned(plan=plan.model_dump(mode="json"))])
    testing = Testing(store, Ledger(store), plan.kept)
    timed(
        "status where questions test the model, before the first model: pool and history are read",
        lambda: status(store),
    )
    testing.refresh(store.ids(), store.count())

    def asked(names: list[str]) -> None:
        store.append([Question(id=name, round=1, rank=at, kind="test") for at, name in enumerate(names)])
        known = {one.id: one for one in store.facts(Question, since=store.revision - 1)}
        store.answer(
            [
                Answer(id=name, question=known[name].question, key="k", verdict="label", label=at % 10)
                for at, name in enumerate(names)
            ]
        )

    names = testing.next(answers // 5)
    for start in range(0, len(names), 1000):
        asked(names[start : start + 1000])
    testing.refresh(store.ids(), store.count())
    scored = {name: [at % 10, at % 100 / 100] for at, name in enumerate(names[:5000])}
    region = Spread.of(torch.tensor([value for _, value in scored.values()], dtype=torch.float64)).written()
    told = {"items": scored, "region": region, **note_tests(testing, scored, seen=store.revision)}
    metrics = {"metrics": {TESTING: told}, "seconds": {}, "weights": "", "checkpoint": ""}
    last = store.last(Round)
    store.append([Round(number=last.number + 1, seen=store.revision, labels=answers, **metrics)])
    later = testing.next(100)
    asked(later)

    def step(name: str) -> None:
        asked([name])
        testing.refresh((), store.count())
        testing.left()

    more = testing.next(300)[-200:]
    timed("a step with tests: asked, answered, counted", lambda: [step(name) for name in more], len(more))
    store.close()
    reader = SqlStore(path, access="read")
    by_note = timed(
        "status where questions test the model, 300 answers after it was tested", lambda: status(reader)
    )
    if by_note.counts.tested != len(names) + len(later) + len(more):
        raise SystemExit(f"{by_note.counts.tested} test answers are not what was told")
    reader.close()

    def opened() -> None:
        choices = {"testing": 0.2, "region": 0.3, "store": path}
        Learner(torch.nn.Linear(2, 10), pool=pool, classes=10, **choices).close()

    opened()  # the plan is noted
    timed("a run with tests opened again, nothing new", opened)


def page(speeds: dict[str, Any]) -> str:
    lines = [
        "# What may never happen, tried",
        "",
        "Made by `benchmarks/reliability.py` from `results/reliability.jsonl`, to which every test of a proof "
        "adds a line; stopped anywhere, it goes on. A control must fail; it is a test beside the proof, run by "
        "`make test`. Seeds are the numbers in the names of the tests. Shapes are not checked while these run "
        "(ASKWISE_UNCHECKED=1): the code is that which a user has.",
        "",
        "| proof | counted | went wrong | control | tests run | seconds | commit | command |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, (what, files, control) in PROOFS.items():
        found = [one for one in kept() if one["proof"] == name]
        counts: Counter[str] = Counter()
        for one in found:
            counts.update({key: int(value) for key, value in one["counts"].items()})
        said = "<br>".join(f"{value:,} {key}" for key, value in counts.items()) or "not run yet"
        failed = [one for one in found if not one["passed"]]
        wrong = "; ".join(one["test"] for one in failed) if failed else "nothing" if found else ""
        commits = ", ".join(sorted({one["commit"][:9] for one in found}))
        seconds = sum(one["seconds"] for one in found)
        command = f"`pytest {'' if name in SHORT else '-m slow '}{shlex.join(files)}`"
        tests = f"{len(found)} of {found[-1]['of']}" if found else ""
        row = [what, said, wrong, control, tests, f"{seconds:,.0f}", commits, command]
        lines.append(f"| {' | '.join(row)} |")
    if speeds:
        lines += ["", "## A large store", "", f"{speeds['sizes']}, without fsyncs ({speeds['machine']}).", ""]
        lines += ["| what | seconds | of the processor |", "|---|---|---|"]
        for what, seconds in speeds["speed"].items():
            if what != "megabytes":
                lines.append(f"| {what} | {seconds[0]:.4f} | {seconds[1]:.4f} |")
        lines += ["", f"The file has {speeds['speed']['megabytes']:.0f} MB."]
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help=f"some of: {', '.join(PROOFS)}; or speed")
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--tables", action="store_true", help="write the page and run nothing")
    given = parser.parse_args()
    chosen = [name.strip() for name in given.only.split(",") if name.strip()] or [*PROOFS, "speed"]
    for name in [] if given.tables else chosen:
        if name == "speed":
            sizes = {
                "sizes": f"{given.items:,} items and {given.answers:,} answers",
                "machine": f"{os.cpu_count()} cores, {date.today().isoformat()}, commit {commit()[:9]}",
            }
            SPEED.write_text(
                json.dumps({"speed": speed(given.items, given.answers), **sizes}, indent=1) + "\n"
            )
        else:
            prove(name)
        PAGE.write_text(page(json.loads(SPEED.read_text()) if SPEED.exists() else {}))
    PAGE.write_text(page(json.loads(SPEED.read_text()) if SPEED.exists() else {}))


if __name__ == "__main__":
    main()
