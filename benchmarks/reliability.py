"""What may never happen, tried: runs the long proofs and the speed of a large store, writes results/reliability.md.

    OMP_NUM_THREADS=1 .venv/bin/python benchmarks/reliability.py [--only threads,flips] [--speed]

A proof is a slow test with a control beside it that must fail; each prints one line with its counts.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "results" / "reliability.md"
KEPT = ROOT / "results" / "reliability.json"

PROOFS = {
    "threads": (
        "ask, tell, predict, status from 8 threads",
        "tests/loop/test_threads.py",
        "every thread may act",
    ),
    "kills": (
        "kill -9 at every write and at random",
        "tests/loop/test_resume.py -k killed",
        "a store that forgets",
    ),
    "disk full": ("no space at the i-th write, for every i", "tests/loop/test_resume.py -k full", ""),
    "power cuts": ("simulated power cuts", "tests/store/test_power_cut.py", "synchronous=NORMAL, FULL, OFF"),
    "flips": (
        "bit flips and cut files",
        "tests/store/test_care.py -k flipped",
        "the same flips without sums",
    ),
    "answerers": (
        "20 answerers x 5,000 items, trainer killed ten times",
        "tests/store/test_answerers.py",
        "check-then-act",
    ),
    "server": ("PostgreSQL killed 50 times amid answers", "tests/store/test_postgres.py -k lost", ""),
}


def prove(name: str) -> dict[str, object]:
    """The lines that the proof's tests printed, and whether all of them passed."""
    _, what, _ = PROOFS[name]
    slow = [] if name == "power cuts" else ["-m", "slow"]
    command = [sys.executable, "-m", "pytest", "-q", "-s", *slow, *what.split()]
    started = time.perf_counter()
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = [
        line for line in run.stdout.splitlines() if re.search(r"\d", line) and not line.startswith((".", "="))
    ]
    return {
        "said": [line for line in lines if "passed" not in line and "deselected" not in line],
        "passed": run.returncode == 0,
        "seconds": round(time.perf_counter() - started),
        "command": f"pytest -s {' '.join([*slow, what])}",
    }


def speed(items: int, answers: int) -> dict[str, object]:
    """Seconds of what must not grow with the history, without fsyncs."""
    from askwise.loop.plan import make
    from askwise.loop.setting import count_items
    from askwise.loop.status import status
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
        timed("the ledger folded when a run is opened", ledger.refresh)
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
        reader = timed("a reader opened", lambda: SqlStore(Path(folder) / "run.db", access="read"))
        timed("status", lambda: status(reader))
        timed("every id listed", lambda: sum(1 for _ in reader.ids()))
        reader.close()
        found["megabytes"] = (Path(folder) / "run.db").stat().st_size / 2**20
    return found


def page(kept: dict[str, object]) -> str:
    lines = [
        "# What may never happen, tried",
        "",
        "Made by `benchmarks/reliability.py`; controls must fail, and are run by `make test`; where none is named there is none yet.",
        "",
        "| proof | what came of it | control | passed | seconds | command |",
        "|---|---|---|---|---|---|",
    ]
    for name, (what, _, control) in PROOFS.items():
        one = kept["proofs"].get(name)
        if one is None:
            lines.append(f"| {what} | not run yet | {control} | | | |")
            continue
        said = "<br>".join(one["said"]) or "no line printed"
        passed = "yes" if one["passed"] else "**no**"
        lines.append(f"| {what} | {said} | {control} | {passed} | {one['seconds']} | `{one['command']}` |")
    if kept.get("speed"):
        lines += ["", "## A large store", "", f"{kept['sizes']}, without fsyncs ({kept['machine']}).", ""]
        lines += ["| what | seconds | of the processor |", "|---|---|---|"]
        for what, seconds in kept["speed"].items():
            if what != "megabytes":
                lines.append(f"| {what} | {seconds[0]:.4f} | {seconds[1]:.4f} |")
        lines += ["", f"The file has {kept['speed']['megabytes']:.0f} MB."]
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help=f"some of: {', '.join(PROOFS)}; or speed")
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--answers", type=int, default=100_000)
    given = parser.parse_args()
    chosen = [name.strip() for name in given.only.split(",") if name.strip()] or [*PROOFS, "speed"]
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"proofs": {}}
    for name in chosen:
        if name == "speed":
            kept["speed"] = speed(given.items, given.answers)
            kept["sizes"] = f"{given.items:,} items and {given.answers:,} answers"
            kept["machine"] = f"{os.cpu_count()} cores, {date.today().isoformat()}"
        else:
            kept["proofs"][name] = prove(name)
            print(name, kept["proofs"][name], flush=True)
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
        PAGE.write_text(page(kept))


if __name__ == "__main__":
    main()
