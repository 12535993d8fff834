"""From photos to predictions.csv in a fresh environment, each command as a person types it, timed.

    python benchmarks/first_hour.py --photos DIR [--venv DIR] [--many 50000]

DIR holds one folder of photos for each class; their names are the file of answers, which no command
but `askwise run` sees. With --venv the package is installed there first, with its extra [vision].
--many measures instead how long the first question takes in a folder of so many photos.
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parent.parent


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--photos", type=Path, required=True)
    parser.add_argument("--venv", type=Path)
    parser.add_argument("--many", type=int)
    given = parser.parse_args()
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
        if given.many is not None:
            for number in range(len(told), given.many):
                os.link(home / "photos" / told[number % len(told)][0], home / "photos" / f"{number:05d}.jpg")
        new = home / "new_photos"
        new.mkdir()
        for name, _ in told[::10]:
            shutil.copyfile(home / "photos" / name, new / name)
        with (home / "labels.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("file", "label"), *told])
        classes = ",".join(sorted({label for _, label in told}))
        timed(*askwise, "new", "rubbish", "--images", "photos", "--classes", classes, cwd=home)
        if given.many is not None:
            timed(*askwise, "run", "rubbish", cwd=home)
            return
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
