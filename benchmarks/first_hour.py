"""The first hour, walked: a fresh clone, a new environment, each command as docs/first-hour.md writes it, timed.

    python benchmarks/first_hour.py --photos DIR [--answers 120] [--pace 1.5]
    python benchmarks/first_hour.py --many 50000 [--keep DIR]

DIR holds one folder of photos for each class. Four of five become photos/, the fifth new_photos/, under names
that tell nothing. At `askwise label` a simulated person sits at the page in a real browser without a window
and presses one key an answer; then the same photos are answered from a file, in a second project. The classes
in the commands are those of DIR; nothing else is changed.
--many measures instead how long the first question takes on so many photos of 64 x 64 pixels, made here:
from the start of `askwise label` until a page would have it. --keep leaves the photos for the next time.
"""

import argparse
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
from page import Server
from PIL import Image
from provenance import commit

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "first-hour.md"
KINDS = 5  # of photos that are made here; each has the tones of its kind and its own
_HELD_OUT = 5  # every fifth photo is new to the model


def commands(section: str) -> list[str]:
    """The commands in a section of the page, without their comments."""
    text = PAGE.read_text("utf-8").partition(f"## {section}\n")[2].partition("\n## ")[0]
    lines = "\n".join(re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)).splitlines()
    return [line.partition(" #")[0].rstrip() for line in lines if line]


class Walk:
    """A shell in a folder with the environment of the clone; every command and its seconds are kept."""

    def __init__(self, clone: Path, home: Path) -> None:
        self.clone, self.home, self.rows = clone, home, []

    def shell(self, line: str) -> list[str]:
        return ["bash", "-c", f"[ -e {self.clone}/.venv ] && . {self.clone}/.venv/bin/activate; {line}"]

    def step(self, line: str, cwd: Path) -> str:
        """What a command prints; a failure ends the walk."""
        began = perf_counter()
        done = subprocess.run(self.shell(line), cwd=cwd, capture_output=True, text=True, check=False)
        self.took(line, perf_counter() - began)
        if done.returncode:
            sys.exit(f"{line}\n{done.stdout}{done.stderr}")
        return done.stdout

    def took(self, what: str, seconds: float) -> None:
        self.rows.append((what, seconds))
        print(f"{seconds:8.1f} s  {what}", flush=True)

    def table(self) -> str:
        rows = [
            f"| {what if ' (' in what else f'`{what}`'} | {seconds:.0f} s |" for what, seconds in self.rows
        ]
        return "\n".join(["| step | took |", "|---|---|", *rows])


def gathered(source: Path, home: Path) -> dict[str, str]:
    """The photos in photos/ and new_photos/ under new names, and the class of each name; answers.csv has them."""
    truth = {}
    for folder in ("photos", "new_photos"):
        (home / folder).mkdir(parents=True)
    for number, path in enumerate(sorted(source.glob("*/*"))):
        name = f"{number:05d}{path.suffix}"
        shutil.copyfile(path, home / ("photos" if number % _HELD_OUT else "new_photos") / name)
        truth[name] = path.parent.name
    with (home / "answers.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "label"), *truth.items()])
    return truth


def person(
    walk: Walk, line: str, truth: dict[str, str], keys: Sequence[str], answers: int, pace: float
) -> None:
    """Answer on the page: from the command until its first question, then so many by one key each."""
    from playwright.sync_api import sync_playwright

    began = perf_counter()
    words = walk.shell(f"exec {line} --no-browser")  # there is no screen here: the same link, opened below
    server = subprocess.Popen(words, cwd=walk.home, stdout=subprocess.PIPE, text=True)
    try:
        link = re.search(r"http://\S+", server.stdout.readline())[0]
        with sync_playwright() as driver:
            chromium = driver.chromium.launch(executable_path=shutil.which("chromium"))
            page = chromium.new_page()
            page.set_default_timeout(600_000)  # a busy machine is slow, not wrong
            page.goto(link)
            page.wait_for_selector("#stage img")
            walk.took(f"`{line}` (until the first question)", perf_counter() - began)
            began, waits = perf_counter(), []
            for _ in range(answers):
                sleep(pace)  # a person looks
                name = page.locator("#caption").text_content()
                pressed = perf_counter()
                page.keyboard.press(str(1 + keys.index(truth[Path(name).name])))
                page.wait_for_function(
                    "name => document.getElementById('caption').textContent !== name "
                    "&& document.querySelector('#stage img')?.complete", arg=name
                )  # fmt: skip
                waits.append(perf_counter() - pressed)
            page.wait_for_selector("#saved[data-mode=saved]")
            walk.took(f"{answers} answers on the page ({pace} s each to look)", perf_counter() - began)
            slow = sorted(waits)[int(0.95 * len(waits))]
            print(f"from key to next photo: median {np.median(waits):.3f} s, p95 {slow:.3f} s")
            chromium.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)
        server.stdout.close()


def right(file: Path, truth: dict[str, str]) -> str:
    with file.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    count = sum(truth[Path(row["id"]).name] == row["class"] for row in rows)
    return f"{count} of {len(rows)} predictions of new photos are right ({100 * count / len(rows):.1f} %)"


def walked(photos: Path, answers: int, pace: float) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        clone, home = Path(scratch, "askwise"), Path(scratch, "hour")
        began = perf_counter()
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
        walk = Walk(clone, home)
        walk.took("git clone (from this machine)", perf_counter() - began)
        truth = gathered(photos, home)
        keys = sorted(set(truth.values()))
        *install, demo = commands("Install")
        assert demo == "askwise label --demo", demo  # packaging/smoke.py tries it
        for line in install:
            walk.step(line, clone)
        for line in commands("Photos"):
            line = line.replace("cat,dog,bird", ",".join(keys))
            if line.startswith("askwise label"):
                person(walk, line, truth, keys, answers, pace)
            else:
                print(walk.step(line, home))
        print(right(home / "predictions.csv", truth))
        [from_file] = commands("Answers from a file")
        second = home / "second"  # the same photos, answered from the file
        second.mkdir()
        new = commands("Photos")[0].replace("cat,dog,bird", ",".join(keys)).replace("photos/", "../photos/")
        walk.step(new, second)
        print(walk.step(from_file.replace("flowers", "pets").replace("answers", "../answers"), second))
        predict = next(line for line in commands("Photos") if line.startswith("askwise predict"))
        walk.step(predict.replace("new_photos/", "../new_photos/"), second)
        print(right(second / "predictions.csv", truth))
        print(walk.table())
        print(
            f"commit {commit()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {sys.version.split()[0]}"
        )


def generated(place: Path, count: int) -> None:
    """So many small photos of KINDS kinds in turn, no two of them alike; those that are there already stay."""
    place.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    kinds = rng.integers(60, 196, (KINDS, 8, 8, 3))
    for number in range(count):
        tones = kinds[number % KINDS] + rng.integers(-60, 60, (8, 8, 3))
        path = place / f"{number:06d}.jpg"
        if not path.exists():
            photo = Image.fromarray(tones.astype(np.uint8)).resize((64, 64), Image.Resampling.BICUBIC)
            photo.save(path, "JPEG", quality=80)


def first_question(count: int, keep: Path | None) -> dict[str, object]:
    """The seconds of `askwise new`, and from `askwise label` to its first question; and who computed how long."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        photos = keep or home / "photos"
        generated(photos, count)
        askwise = [sys.executable, "-c", "from askwise.cli import main; main()"]
        began = perf_counter()
        words = ["new", "rubbish", "--images", str(photos.resolve()), "--classes", "a,b,c,d,e,f"]
        subprocess.run([*askwise, *words], cwd=home, check=True, stdout=subprocess.DEVNULL)
        made = perf_counter() - began
        load, began = os.getloadavg()[0], perf_counter()
        server = Server(home / "rubbish")
        try:
            linked = perf_counter() - began
            while not server.call("/api/questions?n=8")["questions"]:
                sleep(0.05)
            asked, computed = perf_counter() - began, cpu_seconds(server.process.pid)
        finally:
            server.stop()
    return {
        "photos": count,
        "new_seconds": round(made, 1),
        "link_seconds": round(linked, 1),
        "first_question_seconds": round(asked, 1),
        "cpu_seconds": computed,
        "load_before": load,
        "cores": os.cpu_count(),
        "commit": commit(),
    }


def cpu_seconds(root: int) -> dict[str, float]:
    """What a process and those that it began have computed so far, by what they are."""
    tick, parents, found = os.sysconf("SC_CLK_TCK"), {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            words = (stat.parent / "cmdline").read_text().split("\0")
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
        module = next((word for word in words if word.startswith("askwise.web.")), "server")
        found[int(stat.parent.name)] = module.rpartition(".")[2], (int(fields[11]) + int(fields[12])) / tick
    ours = {root} | {pid for pid, parent in parents.items() if parent == root}
    return {found[pid][0]: round(found[pid][1], 1) for pid in sorted(ours)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--photos", type=Path)
    what.add_argument("--many", type=int)
    parser.add_argument("--answers", type=int, default=120)
    parser.add_argument("--pace", type=float, default=1.5)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    if given.many is not None:
        print(json.dumps(first_question(given.many, given.keep)))
    else:
        walked(given.photos, given.answers, given.pace)


if __name__ == "__main__":
    main()
