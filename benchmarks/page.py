"""From an answer to the next question while the model learns: p50 and p95 over HTTP, for small and large pools.

Run: python benchmarks/page.py [--items 10000 100000] [--answers 150] [--pace 0.7]

A server as `askwise label` starts it, on features of 256 numbers; a simulated person answers at a steady pace.
`answer` is the time of POST /api/answers (durable), `fresh` that of GET /api/questions with newer ones taken in,
`next` is from the key press until the server has both acknowledged it and named the next question: an upper
bound, since the page has the next item loaded already. `behind` is, whenever questions were handed out, the age
of the oldest answer that the newest model had not seen.
"""

import argparse
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np
from provenance import commit

WIDTH, CLASSES = 256, 5
COMMAND = "from askwise.cli import main; main()"


def make(folder: Path, items: int) -> dict[str, str]:
    """A project of clustered features; the class of each item by its opaque id."""
    from askwise.project.create import create
    from askwise.project.sources import source
    from askwise.runs.material import material, read_plan
    from askwise.web.desk import opaque

    rng = np.random.default_rng(0)
    centres = rng.normal(size=(CLASSES, WIDTH))
    labels = rng.integers(CLASSES, size=items)
    rows = (centres[labels] + 3 * rng.normal(size=(items, WIDTH))).astype(np.float32)
    np.save(folder / "rows.npy", rows)
    names = [f"class {number}" for number in range(CLASSES)]
    made = create(folder / "project", source("features", folder / "rows.npy"), names=names)
    text = made.project.plan.read_text()
    made.project.plan.write_text(text.replace("budget = 200", "budget = 5000"))
    pool = material(read_plan(made.project.plan), folder=made.project.folder).pool
    return {opaque(name): names[labels[row]] for row, name in enumerate(pool.ids)}


class Server:
    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        words = ["label", str(folder), "--no-browser", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", COMMAND, *words], stdout=subprocess.PIPE, text=True
        )
        self.token = self.process.stdout.readline().strip().rpartition("#")[2]

    def call(self, path: str, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self.token}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        self.process.stdout.close()


def measured(items: int, answers: int, pace: float) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        truth = make(folder, items)
        began = time.perf_counter()
        server = Server(folder / "project")
        try:
            return {"items": items, **sat(server, truth, answers, pace, began)}
        finally:
            server.stop()


def sat(server: Server, truth: dict[str, str], answers: int, pace: float, began: float) -> dict[str, object]:
    while not (questions := server.call("/api/questions?n=8")["questions"]):
        time.sleep(0.1)
    first = time.perf_counter() - began
    posts, fresh, whole, behind = [], [], [], []
    given: list[float] = []  # when each answer was given
    for number in range(answers):
        due = time.perf_counter() + pace
        one = questions[0]
        pressed = time.perf_counter()
        body = {"key": f"press-{number:05d}", "question": one["question"], "item": one["item"]}
        server.call("/api/answers", [{**body, "verdict": "label", "value": truth[one["item"]]}])
        posts.append(time.perf_counter() - pressed)
        asked = time.perf_counter()
        keep = questions[1]["question"] if len(questions) > 1 else ""
        questions = server.call(f"/api/questions?n=8&keep={keep}")["questions"]
        fresh.append(time.perf_counter() - asked)
        whole.append(time.perf_counter() - pressed)
        given.append(pressed)
        while not questions:
            time.sleep(0.05)
            questions = server.call("/api/questions?n=8")["questions"]
        seen = server.call("/api/status")
        late = seen["given"] - seen["seen"]  # answers that the newest model had not seen
        behind.append(time.perf_counter() - given[-late] if late else 0.0)
        time.sleep(max(0.0, due - time.perf_counter()))
    half = len(posts) // 10  # the first tenth warms up
    return {
        "answers": answers,
        "pace_seconds": pace,
        "first_question_seconds": round(first, 2),
        "answer_ms": spread(posts[half:]),
        "fresh_ms": spread(fresh[half:]),
        "next_ms": spread(whole[half:]),
        "behind_ms": spread(behind[half:]),
        "status": {key: seen[key] for key in ("labels", "seen", "given", "model")},
    }


def spread(seconds: list[float]) -> dict[str, float]:
    found = np.array(seconds) * 1000
    return {"p50": round(float(np.quantile(found, 0.5)), 1), "p95": round(float(np.quantile(found, 0.95)), 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--answers", type=int, default=150)
    parser.add_argument("--pace", type=float, default=0.7)
    given = parser.parse_args()
    for items in given.items:
        found = measured(items, given.answers, given.pace)
        machine = {"cores": os.cpu_count(), "load": os.getloadavg()[0], "python": platform.python_version()}
        print(json.dumps({**found, "machine": machine, "commit": commit()}))


if __name__ == "__main__":
    main()
