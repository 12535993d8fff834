"""How fast the page is while the model learns, on small and large pools: results/page.md.

Run: python benchmarks/page.py [painted served] [--items 10000 100000] [--answers 150] [--pace 0.7]

Both start a server as `askwise label` does; a simulated person answers at a steady pace.

`painted`: a real browser on photos, while trainer and encoder run. From the key press until the next photo is
painted: the browser's time stamp of the key, and the end of the frame after the one with the new picture.

`served`: over HTTP, on features of 256 numbers. `answer` is the time of POST /api/answers (durable), `fresh` that
of GET /api/questions with newer ones taken in, `both` is one after the other. `behind` is, whenever questions
were handed out, the age of the oldest answer that the newest model had not seen.
"""

import argparse
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from provenance import commit

RESULTS = Path(__file__).parent.parent / "results"
WIDTH, CLASSES = 256, 5
COMMAND = "from askwise.cli import main; main()"
MOST = {10_000: 100, 100_000: 150}  # milliseconds from key press to paint at the 95th percentile, promised
WATCH = """
() => {
  window.painted = [];
  let pressed = null;
  addEventListener("keydown", (event) => (pressed = event.timeStamp), true);
  new MutationObserver(() => {
    if (pressed === null || !document.querySelector("#stage img")) return;
    const since = pressed;
    pressed = null;
    requestAnimationFrame(() => requestAnimationFrame(() => window.painted.push(performance.now() - since)));
  }).observe(document.getElementById("stage"), { childList: true });
}
"""


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
        self.link = self.process.stdout.readline().strip().split()[-1]
        self.token = self.link.rpartition("#")[2]

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


def painted(items: int, answers: int, pace: float) -> dict[str, object]:
    """Key presses in a real browser on so many photos, which are being encoded meanwhile."""
    from first_hour import KINDS, generated
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        folder = Path(place)
        generated(folder / "photos", items)
        classes = ",".join(f"kind {number}" for number in range(KINDS))
        words = ["new", "project", "--images", "photos", "--classes", classes]
        subprocess.run(
            [sys.executable, "-c", COMMAND, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        server = Server(folder / "project")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(server.link)
            page.wait_for_selector("#stage img", timeout=120_000)
            page.evaluate(WATCH)
            behind = []
            for number in range(answers):
                due = time.perf_counter() + pace
                name = page.locator("#caption").inner_text()
                kind = int(Path(name).stem) % KINDS
                page.keyboard.press(str(kind + 1))
                while (
                    page.evaluate("window.painted.length") <= number
                ):  # the page's policy forbids waiting inside it
                    time.sleep(0.02)
                late = server.call("/api/status")
                behind.append(late["given"] - late["seen"])
                time.sleep(max(0.0, due - time.perf_counter()))
            seconds = [ms / 1000 for ms in page.evaluate("window.painted")]
            seen = server.call("/api/status")
        finally:
            browser.close()
            server.stop()
    return {
        "painted_ms": spread(seconds[answers // 10 :]),  # the first tenth warms up
        "most_answers_unseen": max(behind),
        "status": {key: seen[key] for key in ("labels", "seen", "given", "model", "encoding")},
    }


def served(items: int, answers: int, pace: float) -> dict[str, object]:
    """Requests of a simulated person on so many rows of features."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        truth = make(folder, items)
        began = time.perf_counter()
        server = Server(folder / "project")
        try:
            return sat(server, truth, answers, pace, began)
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
        "first_question_seconds": round(first, 2),
        "answer_ms": spread(posts[half:]),
        "fresh_ms": spread(fresh[half:]),
        "both_ms": spread(whole[half:]),
        "behind_ms": spread(behind[half:]),
        "status": {key: seen[key] for key in ("labels", "seen", "given", "model")},
    }


def spread(seconds: list[float]) -> dict[str, float]:
    found = np.array(seconds) * 1000
    return {"p50": round(float(np.quantile(found, 0.5)), 1), "p95": round(float(np.quantile(found, 0.95)), 1)}


WAYS: dict[str, Callable[[int, int, float], dict[str, object]]] = {"painted": painted, "served": served}


def table(rows: list[dict]) -> str:
    """The newest row of each way and size, as Markdown."""
    newest = {(row["way"], row["items"]): row for row in rows}
    lines = [
        "# The page while the model learns",
        "",
        "Made by `benchmarks/page.py` from `results/page.jsonl`; its first lines say what is measured. Milliseconds, "
        "p50 / p95; the first tenth of the answers warms up and does not count.",
    ]
    lines += ["", "## In a browser, on photos that are being encoded", ""]
    lines += [
        "| photos | answers, pace | key press to next photo painted | promised p95 | load before | commit |"
    ]
    lines += ["|---|---|---|---|---|---|"]
    for (way, items), row in sorted(newest.items()):
        if way == "painted":
            most = MOST.get(items)
            told = f"{most}, {'kept' if row['painted_ms']['p95'] <= most else 'NOT kept'}" if most else "-"
            lines.append(
                f"| {items:,} | {_pace(row)} | {_both(row['painted_ms'])} | {told} | {_about(row)} |"
            )
    lines += ["", "## Over HTTP, on features", ""]
    lines += [
        "| rows | answers, pace | answer stored | fresh questions | both | model behind by | load before | commit |"
    ]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for (way, items), row in sorted(newest.items()):
        if way == "served":
            told = " | ".join(_both(row[key]) for key in ("answer_ms", "fresh_ms", "both_ms", "behind_ms"))
            lines.append(f"| {items:,} | {_pace(row)} | {told} | {_about(row)} |")
    return "\n".join(lines) + "\n"


def _pace(row: dict) -> str:
    return f"{row['answers']}, one in {row['pace_seconds']} s"


def _both(found: dict[str, float]) -> str:
    return f"{found['p50']:.0f} / {found['p95']:.0f}"


def _about(row: dict) -> str:
    return f"{row['machine']['load']:.1f} | {row['commit'][:9]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "ways", nargs="*", choices=[*WAYS, []], help=f"some of: {', '.join(WAYS)}; by default all"
    )
    parser.add_argument("--items", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--answers", type=int, default=150)
    parser.add_argument("--pace", type=float, default=0.7)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    file = given.out / "page.jsonl"
    for way in given.ways or WAYS:
        for items in given.items:
            load = os.getloadavg()[0]
            row = {
                "way": way,
                "items": items,
                "answers": given.answers,
                "pace_seconds": given.pace,
                **WAYS[way](items, given.answers, given.pace),
                "machine": {"cores": os.cpu_count(), "load": load, "python": platform.python_version()},
                "command": f"python benchmarks/page.py {way} --items {items} --answers {given.answers}",
                "date": datetime.now(UTC).date().isoformat(),
                "commit": commit(),
            }
            print(json.dumps(row), flush=True)
            with file.open("a") as lines:
                lines.write(json.dumps(row) + "\n")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    (given.out / "page.md").write_text(table(rows))


if __name__ == "__main__":
    main()
