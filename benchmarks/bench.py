"""Speed beside the peers, interleaved in one run: results/bench.{md,json,png}.

    make bench          the whole table; half an hour on a quiet machine
    make bench-short    smaller, under five minutes, written to .runs/bench-short

    python benchmarks/bench.py --only mc_dropout,bnn1      some of the rows
    ... --full-peers                                       the peers on all items too, not on fewer and scaled

What is finished stands in bench.jsonl with its commit and is not done again for the same code and sizes.
"""

import argparse
import json
import os
import signal
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

from provenance import commit
from speed.bench import Bench
from speed.finding import Finding, recorded
from speed.line import failed
from speed.process import HERE, ContestantError
from speed.record import append, finished
from speed.report import write
from speed.rows import ROWS
from speed.sizes import FORMS, Sizes
from speed.table import figure, goal


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that processes and files are put away
    options = _options()
    form = "tiny" if options.tiny else "short" if options.short else "full"
    out = options.out or HERE.parent / ("results" if form == "full" else f".runs/bench-{form}")
    out.mkdir(parents=True, exist_ok=True)
    sizes, file = _sizes(form, options), out / "bench.jsonl"
    like = {"commit": commit(), "threads": options.threads, "sizes": json.loads(json.dumps(asdict(sizes)))}
    done = {} if options.again or like["commit"].endswith("-dirty") else finished(file, like)
    done = {name: one for name, one in done.items() if recorded(one).complete}
    began = time.time()
    with Bench(sizes, threads=options.threads) as bench:
        for name in options.only:
            if name in done:
                print(f"{name}: measured before, with the same code", flush=True)
                continue
            start, load = time.time(), os.getloadavg()[0]
            try:
                found = ROWS[name](bench)
            except ContestantError as error:
                found = Finding([failed(name, name, str(error))], {})
            about = {"name": name, **like, "row_took_s": round(time.time() - start, 1), "row_load": load}
            append(file, {**about, **found.record()})
            for line in found.lines:
                print(" | ".join((line.what, line.measured, figure(line), goal(line))), flush=True)
        bench.limit()
        run = {"limits_gflops": bench.limits, "took_s": time.time() - began, "load": os.getloadavg()}
    write(out, form, finished(file, like), {**like, **run})
    print(f"{out}/bench.md, bench.json after {time.time() - began:.0f} s")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="everything smaller, under five minutes")
    parser.add_argument("--tiny", action="store_true", help="a trial of the code: its figures mean nothing")
    parser.add_argument("--only", type=_names, default=list(ROWS), help=f"some of: {', '.join(ROWS)}")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--peer-n", type=int, help="items for the peers and the plain loop")
    parser.add_argument(
        "--full-peers", action="store_true", help="as many items for them as for askwise (hours)"
    )
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--again", action="store_true", help="also what is finished")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        sys.exit(f"unknown row {unknown[0]!r}; choose some of: {', '.join(ROWS)}")
    return names


def _sizes(form: str, options: argparse.Namespace) -> Sizes:
    sizes = FORMS[form]
    if options.full_peers:
        sizes = replace(sizes, peer_n=sizes.n)
    if options.peer_n:
        sizes = replace(sizes, peer_n=options.peer_n)
    return replace(sizes, rounds=options.rounds) if options.rounds else sizes


if __name__ == "__main__":
    main()
