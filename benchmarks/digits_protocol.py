"""Try a setting of the digits protocol on seeds 100-104, and append what came out to results/.

    python benchmarks/digits_protocol.py --methods random,bald --seeds 100-101 \
        --set budget=240 --set 'training={"epochs": 50, "batch": 64, "lr": 0.003}'

The seeds that are reported (benchmarks/digits.py) are never used here.
"""

import argparse
import json
import sys
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from askwise.cli.options import seeds
from askwise.demo import PROTOCOL, Job, Protocol, run_all
from askwise.report.past import past
from askwise.report.summary import of_run
from askwise.store import open_store

RESULTS = Path(__file__).parent.parent / "results" / "digits_protocol.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--methods", default="random,variation_ratios,power-bald")
    parser.add_argument("--seeds", default="100-104")
    parser.add_argument("--set", action="append", default=[], help="a field of Protocol = JSON")
    parser.add_argument("--processes", type=int, default=None)
    options = parser.parse_args()
    chosen = seeds(options.seeds)
    if not set(chosen) <= set(range(100, 105)):
        sys.exit("the protocol is chosen on seeds 100-104 only")
    protocol = changed(options.set)
    started = perf_counter()
    with TemporaryDirectory() as folder:
        jobs = [
            Job(name, seed, Path(folder, f"{name}-{seed}.db"))
            for seed in chosen
            for name in options.methods.split(",")
        ]
        run_all(protocol, jobs, processes=options.processes)
        found: dict[str, list[dict]] = {}
        for job in jobs:
            with closing(open_store(job.store, read_only=True)) as store:
                found.setdefault(job.method, []).append({"seed": job.seed, **of_run(past(store))})
    record = {
        "command": " ".join(["python", *sys.argv]),
        "seeds": options.seeds,
        "protocol": asdict(protocol),
        "seconds": round(perf_counter() - started, 1),
        "results": found,
    }
    with RESULTS.open("a") as stream:
        stream.write(json.dumps(record) + "\n")
    for name, runs in found.items():
        for target in ("labels_to_90", "labels_to_95"):
            print(f"{name:<18} {target}: {[run[target] for run in runs]}")


def changed(settings: list[str]) -> Protocol:
    protocol = PROTOCOL
    for setting in settings:
        key, _, text = setting.partition("=")
        value = json.loads(text)
        if isinstance(value, dict):
            value = {**getattr(protocol, key), **value}
        protocol = replace(protocol, **{key: value})
    return protocol


if __name__ == "__main__":
    main()
