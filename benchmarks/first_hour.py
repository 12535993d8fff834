"""From photos to predictions.csv in a fresh environment, each command as a person types it, timed.

    python benchmarks/first_hour.py --photos DIR [--venv DIR]
    python benchmarks/first_hour.py --many 50000 [--keep DIR]

DIR holds one folder of photos for each class; their names are the file of answers, which no command
but `askwise run` sees. With --venv the package is installed there first, with its extra [vision].
--many measures instead how long the first question takes on so many photos of 64 x 64 pixels, made here:
from the start of `askwise label` until a page would have it. --keep leaves the photos for the next time.
"""

import argparse
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
from page import Server
from PIL import Image
from provenance import commit

ROOT = Path(__file__).parent.parent
_KINDS = 200  # pictures; every file has a comment of its own beside one of them


def timed(*words: str, cwd: Path) -> str:
    """What a command prints; it and its seconds are printed here."""
    started = perf_counter()
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    print(
        f"{perf_counter() - started:8.1f} s  {' '.join(Path(words[0]).name if w is words[0] else w for w in words)}"
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def gathered(source: Path, place: Path) -> list[tuple[str, str]]:
    """All photos in one folder under new names, and the class of each."""
    place.mkdir()
    found = []
    for number, path in enumerate(sorted(source.glob("*/*"))):
        name = f"{number:05d}{path.suffix}"
        shutil.copyfile(path, place / name)
        found.append((name, path.parent.name))
    return found


def generated(place: Path, count: int) -> None:
    """So many small photos, no two of them alike to the byte; those that are there already stay."""
    place.mkdir(parents=True, exist_ok=True)
    rng, kinds = np.random.default_rng(0), []
    for _ in range(_KINDS):
        stream = io.BytesIO()
        tones = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(tones).resize((64, 64), Image.Resampling.BICUBIC).save(stream, "JPEG", quality=80)
        kinds.append(stream.getvalue())
    for number in range(len(list(place.iterdir())), count):
        photo, note = kinds[number % _KINDS], f"{number:08d}".encode()
        comment = b"\xff\xfe" + (len(note) + 2).to_bytes(2) + note
        (place / f"{number:06d}.jpg").write_bytes(photo[:2] + comment + photo[2:])


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
    parser.add_argument("--venv", type=Path)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    if given.many is not None:
        print(json.dumps(first_question(given.many, given.keep)))
        return
    askwise = [str(Path(sys.executable).parent / "askwise")]
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        if given.venv is not None:
            timed(sys.executable, "-m", "venv", str(given.venv), cwd=home)
            python = str(given.venv.resolve() / "bin" / "python")
            timed(
                python,
                "-m",
                "pip",
                "install",
                "-q",
                "-c",
                str(ROOT / "constraints.txt"),
                f"{ROOT}[vision]",
                cwd=home,
            )
            askwise = [str(given.venv.resolve() / "bin" / "askwise")]
        told = gathered(given.photos, home / "photos")
        new = home / "new_photos"
        new.mkdir()
        for name, _ in told[::10]:
            shutil.copyfile(home / "photos" / name, new / name)
        with (home / "labels.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("file", "label"), *told])
        classes = ",".join(sorted({label for _, label in told}))
        timed(*askwise, "new", "rubbish", "--images", "photos", "--classes", classes, cwd=home)
        timed(*askwise, "run", "rubbish", "--oracle", "labels.csv", cwd=home)
        print(
            timed(
                *askwise,
                "predict",
                "rubbish",
                "--input",
                "new_photos",
                "--output",
                "predictions.csv",
                cwd=home,
            )
        )
        timed(*askwise, "export", "rubbish", "--labels", cwd=home)
        timed(*askwise, "export", "rubbish", "--model", cwd=home)
        truth = dict(told)
        with (home / "predictions.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        right = sum(truth[row["id"]] == row["class"] for row in rows)
        print(f"{right} of {len(rows)} predictions are right, of photos that were in the pool")


if __name__ == "__main__":
    main()
