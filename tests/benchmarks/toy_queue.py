"""A queue of two toy experiments in the folder of the environment variable TOY.

Every start of a job is a line of `starts`. A file `slow` makes jobs last until it is gone,
a file `broken` holds the number of a job that fails.
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "benchmarks"))

from jobs.command import main
from jobs.experiment import Experiment
from jobs.ledger import Home

PATIENCE = 120  # seconds, so that a broken test ends


def experiments(folder: Path, *, scale: int = 1) -> list[Experiment]:
    """Eight squares, which come first, and two cubes."""
    return [_powers(folder, "squares", 2, 8, scale), _powers(folder, "cubes", 3, 2, scale)]


def home(folder: Path) -> Home:
    return Home(folder / "results", folder / "scratch")


def _powers(folder: Path, name: str, power: int, count: int, scale: int) -> Experiment:
    def run(key, scratch):
        with (folder / "starts").open("a") as file:
            file.write(f"{name} {key['number']} {os.getpid()}\n")
        resumed = (scratch / "begun").exists()
        (scratch / "begun").touch()
        until = time.monotonic() + PATIENCE
        while (folder / "slow").exists() and time.monotonic() < until:
            time.sleep(0.01)
        broken = folder / "broken"
        if name == "squares" and broken.exists() and int(broken.read_text()) == key["number"]:
            raise ZeroDivisionError("a broken job")
        return {"value": scale * key["number"] ** power, "resumed": resumed}

    def tables(rows, results):
        text = "".join(f"{row['number']}: {row['value']}\n" for row in rows)
        (results / f"{name}.md").write_text(text)

    return Experiment(
        name=name,
        about=f"numbers to the power of {power}",
        jobs=[{"number": number} for number in range(count)],
        settings=lambda _: {"power": power, "scale": scale},
        run=run,
        tables=tables,
        seconds=36.0,
    )


if __name__ == "__main__":
    place = Path(os.environ["TOY"])
    sys.exit(main(experiments(place), home(place)))
