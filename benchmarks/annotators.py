"""Many annotators over HTTP while servers and trainers are killed: writes results/annotators.md.

    OMP_NUM_THREADS=1 .venv/bin/python benchmarks/annotators.py [--people 20] [--items 5000] [--kills 10] [--only sqlite]

Everybody looks at an item for a second on average, answers at random, sends three answers in ten twice, and
now and then goes away with questions in hand until their leases have ended. Finished databases are kept in
results/annotators.jsonl and left out the next time.
"""

import argparse
import http.client
import json
import os
import platform
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
from provenance import commit

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from descendants import descendants  # noqa: E402
from postgres_server import server as postgres  # noqa: E402

from askwise.project import Project  # noqa: E402
from askwise.store import open_store  # noqa: E402
from askwise.store.facts import Answer  # noqa: E402
from askwise.store.sql.care import check  # noqa: E402

KEPT, PAGE = ROOT / "results" / "annotators.jsonl", ROOT / "results" / "annotators.md"
CLASSES = ("one", "two", "three")
DOUBLED = 0.3
STARTING = 5.0  # seconds after which a server runs
WANTED = 250  # milliseconds within which 99 of 100 answers are stored
PATIENCE = 600.0  # seconds without an answer after which something hangs
SERVE = "import askwise.web.desk as desk; desk.LEASE = float({lease}); from askwise.cli import main; main()"
PLAN = """{store}classes = ["one", "two", "three"]
data = {data!r}
network = "linear"
acquire = "margin"
initial = {ahead}
batch = {ahead}
budget = {items}
overlap = {overlap}
seed = 0
[posterior]
name = "laplace"
[training]
epochs = 3
"""


class Server:
    """`askwise label` in a process of its own; begun again it has the same port and the same links."""

    def __init__(self, project: Project, people: list[str], lease: float) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        words = ["label", str(project.folder), "--no-browser", "--port", str(self.port)]
        words += [word for name in people for word in ("--person", name)]
        self._command = [sys.executable, "-c", SERVE.format(lease=lease), *words]
        self._log = (project.folder / f"server-{self.port}.log").open("ab")
        self.start()

    def start(self) -> None:
        self.began = time.monotonic()
        self.process = subprocess.Popen(self._command, stdout=self._log, stderr=self._log)

    def kill(self) -> None:
        """The server, at once; the processes beside it end by themselves."""
        self.process.kill()
        self.process.wait()

    def kill_trainer(self) -> int:
        """How many processes were killed."""
        found = [pid for pid in descendants(self.process.pid) if "askwise.web.trainer" in _command(pid)]
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(found)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        self.process.kill()
        self.process.wait()
        self._log.close()


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


@dataclass
class Person:
    """One annotator with a connection of their own; notes what was held from when to when, and what was kept."""

    name: str
    token: str
    server: Server
    seed: int
    lease: float
    leaves: float
    """The probability of going away instead of answering."""
    think: float
    """Seconds for a look at an item, on average; each is drawn."""
    held: list[tuple[str, float, float]] = field(default_factory=list)
    kept: dict[str, tuple[int, str]] = field(default_factory=dict)
    seconds: dict[str, list[tuple[bool, float]]] = field(
        default_factory=lambda: {"questions": [], "answers": []}
    )
    """How long each reply took, and whether its server ran already when it was asked."""
    double, left, trouble = 0, 0, ""
    last = 0.0
    _line: http.client.HTTPConnection | None = None

    def work(self, over: threading.Event) -> None:
        """Answer until it is over."""
        chance = random.Random(self.seed)
        self.last = time.monotonic()
        try:
            while not over.is_set():
                found = self._sent("questions", "/api/questions?n=4", None, over)
                now = time.time()
                asked = (found or {}).get("questions", [])
                ends = [datetime.fromisoformat(one["lease_until"]).timestamp() for one in asked]
                for at, (one, until) in enumerate(zip(asked, ends, strict=True)):
                    if chance.random() < self.leaves:
                        self.left += len(asked) - at
                        self.held += [(asked[n]["item"], now, ends[n]) for n in range(at, len(asked))]
                        over.wait(1.5 * self.lease)
                        break
                    self._answer(one, chance, now, until, over)
                if not asked:
                    over.wait(0.2)
        except Exception as error:
            self.trouble = repr(error)
        finally:
            self._hang_up()

    def _answer(
        self, one: dict[str, Any], chance: random.Random, since: float, until: float, over: Any
    ) -> None:
        value = chance.choice(CLASSES)
        if self.think:
            over.wait(chance.uniform(0, 2 * self.think))
        body = {
            "key": f"{self.name}-{len(self.kept):06d}-{one['question']}",
            "question": one["question"], "item": one["item"], "verdict": "label", "value": value,
        }  # fmt: skip
        self.held.append((one["item"], since, min(time.time(), until)))
        reply = self._sent("answers", "/api/answers", [body], over)
        if reply is None:
            return
        assert not reply["refused"], reply
        if chance.random() < DOUBLED:
            self.double += 1
            again = self._sent("answers", "/api/answers", [body], over)
            assert again is None or again == reply, "the same answer had two replies"
        self.kept[body["key"]] = (reply["answers"][0]["revision"], value)
        self.last = time.monotonic()

    def _sent(self, what: str, path: str, body: Any, over: threading.Event) -> Any:
        """The reply, however often it must be asked for; none if it is over before."""
        while not over.is_set():
            started = time.perf_counter()
            try:
                status, found = self._call(path, body)
            except (OSError, http.client.HTTPException, ValueError):
                self._hang_up()
                over.wait(0.1)
                continue
            if status == 200:
                took, runs = time.perf_counter() - started, time.monotonic() - self.server.began
                self.seconds[what].append((runs - took > STARTING, took))
                return found
            assert status in (429, 503), (status, found)
            over.wait(0.1)
        return None

    def _call(self, path: str, body: Any) -> tuple[int, Any]:
        self._line = self._line or http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body)
        self._line.request("GET" if body is None else "POST", path, body=data, headers=headers)
        with self._line.getresponse() as reply:
            return reply.status, json.loads(reply.read())

    def _hang_up(self) -> None:
        if self._line is not None:
            self._line.close()
        self._line = None


def double_leases(held: list[tuple[str, str, float, float]]) -> int:
    """How often two people held one item at a time, by what each was told: item, person, from, until."""
    spans: dict[str, list[tuple[float, float, str]]] = {}
    for item, who, since, until in held:
        spans.setdefault(item, []).append((since, until, who))
    found = 0
    for own in spans.values():
        ends: dict[str, float] = {}
        for since, until, who in sorted(own):
            found += any(end > since for other, end in ends.items() if other != who)
            ends[who] = max(until, ends.get(who, until))
    return found


def accounted(kept: dict[str, tuple[int, str]], stored: list[tuple[str, int, str]]) -> dict[str, int]:
    """Answers that were acknowledged and are not there as they were, and those that are there twice."""
    found: dict[str, list[tuple[int, str]]] = {}
    for key, revision, value in stored:
        found.setdefault(key, []).append((revision, value))
    return {
        "lost": sum(one not in found.get(key, []) for key, one in kept.items()),
        "doubled": sum(len(one) - 1 for one in found.values()),
    }


def campaign(
    folder: Path,
    store: str,
    *,
    people: int,
    items: int,
    kills: int,
    servers: int,
    lease: float,
    leaves: float,
    pause: float,
    think: float = 0.0,
) -> dict[str, Any]:
    """What came of it: every item labelled once, whoever was killed meanwhile."""
    project = Project(folder / "project")
    project.folder.mkdir()
    np.save(folder / "rows.npy", np.random.default_rng(0).normal(size=(items, 8)).astype(np.float32))
    named = f'store = "{store}"\n' if store else ""
    plan = PLAN.format(
        store=named, data=str(folder / "rows.npy"), items=items, ahead=min(items, 12 * people), overlap=0.0
    )
    project.plan.write_text(plan)
    names = [f"person-{number:02d}" for number in range(people)]
    running = [Server(project, names, lease) for _ in range(servers)]
    over, chance, started = threading.Event(), random.Random(0), time.monotonic()
    try:
        tokens = _tokens(project, names, running[0])
        team = [
            Person(name, tokens[name], running[at % servers], at, lease, leaves, think)
            for at, name in enumerate(names)
        ]
        threads = [threading.Thread(target=one.work, args=[over], daemon=True) for one in team]
        for thread in threads:
            thread.start()
        dead = {"server": 0, "trainer": 0}
        for number in range(2 * kills):
            wanted = (number + 1) * items // (2 * kills + 2)
            _until(lambda wanted=wanted: sum(len(one.kept) for one in team) >= wanted, team)
            time.sleep(chance.uniform(0, pause))
            one = chance.choice(running)
            if number % 2:
                one.kill()
                one.start()
                dead["server"] += 1
            else:
                dead["trainer"] += one.kill_trainer()
        reading = open_store(project.place, access="read")
        _until(lambda: reading.places().labelled >= items, team)
        took = time.monotonic() - started
        over.set()
        for thread in threads:
            thread.join(60)
        return {**_counted(project, reading, team), "killed": dead, "seconds": round(took, 1)}
    finally:
        over.set()
        for one in running:
            one.stop()


def _tokens(project: Project, names: list[str], server: Server) -> dict[str, str]:
    while server.process.poll() is None:
        with suppress(OSError, ValueError):
            found: dict[str, str] = json.loads((project.folder / "people.json").read_text())
            if set(names) <= found.keys():
                return found
        time.sleep(0.1)
    raise RuntimeError("the server has not begun")


def _until(done: Any, team: list[Person]) -> None:
    while not done():
        trouble = [one.trouble for one in team if one.trouble]
        assert not trouble, trouble
        assert max(one.last for one in team) > time.monotonic() - PATIENCE or not team[0].last, (
            "nothing moves"
        )
        time.sleep(0.05)


def _counted(project: Project, store: Any, team: list[Person]) -> dict[str, Any]:
    answers = store.facts(Answer)
    stored = [(one.key, one.revision, CLASSES[one.label]) for one in answers]
    store.close()
    kept = {key: value for one in team for key, value in one.kept.items()}
    held = [(item, one.name, since, until) for one in team for item, since, until in one.held]
    by_item: dict[str, set[str]] = {}
    for one in answers:
        by_item.setdefault(one.id, set()).add(one.annotator)
    place = project.place
    return {
        "answers": len(answers),
        "items": len(by_item),
        "sent twice": sum(one.double for one in team),
        "leases left behind": sum(one.left for one in team),
        "double leases": double_leases(held),
        **accounted(kept, stored),
        "late answers": sum(len(who) - 1 for who in by_item.values()),
        "problems": len(check(place)),
        "trouble": [one.trouble for one in team if one.trouble],
        "milliseconds": {
            what: {
                f"p{share}{name}": round(1000 * float(np.percentile(took, share)), 1)
                for name, took in _times(team, what).items()
                for share in (50, 99)
            }
            for what in ("questions", "answers")
        },
    }


def _times(team: list[Person], what: str) -> dict[str, list[float]]:
    """How long replies took: those of servers that ran already, and all of them."""
    found = [one for person in team for one in person.seconds[what]]
    return {"": [took for runs, took in found if runs] or [0.0], " of all": [took for _, took in found]}


def sound(found: dict[str, Any], items: int) -> bool:
    """Whether nothing was lost, doubled or held by two, and every item has its label."""
    wrong = ("double leases", "lost", "doubled", "problems", "trouble")
    return not any(found[name] for name in wrong) and found["items"] == items


def tried(database: str, **how: Any) -> dict[str, Any]:
    """One campaign on a database that is made for it."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="annotators-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        store = ""
        if database == "postgresql":
            store = stack.enter_context(postgres()).url(folder / "models")
        return campaign(folder, store, **how)


def write_page(rows: list[dict[str, Any]]) -> None:
    lines = [
        "# Many annotators over HTTP, servers and trainers killed",
        "Everybody has a connection of their own, looks at an item for a second on average (0 to 2), answers at random, sends",
        "three answers in ten twice, and once in a hundred goes away with questions in hand until their leases have ended.",
        "`askwise label` is killed (-9) and begun again, and so is its",
        "trainer. A double lease is an item that two people were told to hold at the same time; lost are acknowledged",
        "answers that the store has not, or not as they were; doubled are answers that it has twice. A late answer came",
        "after its lease had ended, when somebody else had the item: it is kept. Milliseconds are of replies as the",
        "annotators saw them, all of them and the servers on one machine, without the waiting while a server was down:",
        f"first of what was asked {STARTING:.0f} s after its server was begun or later, then of all.",
        "",
        "| database | servers | people | items | killed: server, trainer | answers | sent twice | left behind | double leases | lost | doubled | late | p50, p99 questions (ms) | p50, p99 answers (ms) | p99 of all questions, answers (ms) | seconds |",
        "|" + "---|" * 16,
    ]
    for row in rows:
        found, how, ms = row["found"], row["how"], row["found"]["milliseconds"]
        lines.append(
            f"| {row['database']} | {how['servers']} | {how['people']} | {found['items']} | "
            f"{found['killed']['server']}, {found['killed']['trainer']} | {found['answers']} | {found['sent twice']} | "
            f"{found['leases left behind']} | {found['double leases']} | {found['lost']} | {found['doubled']} | "
            f"{found['late answers']} | {ms['questions']['p50']}, {ms['questions']['p99']} | "
            f"{ms['answers']['p50']}, {ms['answers']['p99']} | "
            f"{ms['questions']['p99 of all']}, {ms['answers']['p99 of all']} | {found['seconds']} |"
        )
    for which, words in (("p99", "by servers that ran already"), ("p99 of all", "of all")):
        slowest = max(row["found"]["milliseconds"]["answers"][which] for row in rows)
        reached = "reached" if slowest < WANTED else "NOT reached"
        lines += ["", f"p99 of an answer under {WANTED} ms wanted, {words}: {reached}, at most {slowest} ms."]
    lines += ["", "Where it ran:"]
    lines += [
        f"- {row['database']}: `{row['command']}`, commit {row['commit']}, {row['date']}, {row['machine']}, "
        f"load {row['load']}"
        for row in rows
    ]
    PAGE.write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--items", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--lease", type=float, default=20.0)
    parser.add_argument("--think", type=float, default=1.0, help="seconds for a look at an item, on average")
    parser.add_argument("--only", default="sqlite,postgresql")
    given = parser.parse_args()
    rows = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    for database in given.only.split(","):
        how = {
            "people": given.people, "items": given.items, "kills": given.kills, "lease": given.lease,
            "servers": 2 if database == "postgresql" else 1, "pause": 1.0, "leaves": 0.01, "think": given.think,
        }  # fmt: skip
        if any(row["database"] == database and row["how"] == how for row in rows):
            print(f"{database}: done already")
            continue
        found = tried(database, **how)
        print(database, json.dumps(found, indent=1), flush=True)
        assert sound(found, given.items), "not sound"
        row = {
            "database": database, "how": how, "found": found, "commit": commit(), "date": date.today().isoformat(),
            "command": " ".join(["python", "benchmarks/annotators.py", *sys.argv[1:]]),
            "machine": f"{os.cpu_count()} cores, {platform.system()}",
            "load": " ".join(f"{one:.0f}" for one in os.getloadavg()),
        }  # fmt: skip
        with KEPT.open("a") as file:
            file.write(json.dumps(row) + "\n")
        rows.append(row)
    write_page(rows)


if __name__ == "__main__":
    main()
