"""bench.md, bench.json and bench.png from all that is finished."""

import json
import sys
from pathlib import Path
from typing import Any

from speed.finding import recorded
from speed.plot import plot
from speed.record import cpu, versions
from speed.rows import ROWS
from speed.table import table

PROTOCOL = (
    "Everyone runs in a process of its own that lives through the run, on the same generated items, with the same "
    "weights and the same number of threads; imports, data and models are made before the clock starts, and one small "
    "run is not counted. A round measures the GEMM limit and then lets everyone run in turn (askwise a few times, of "
    "which the median); ratios are taken within a round, and the table has their median with the lowest and highest. "
    "The limit of a way of working is its FLOP at the rate of a large float32 product by the faster of torch's two "
    "libraries, measured in the same rounds. The peers' cost is linear in the items: they get fewer, and their time is scaled (BatchBALD's, which has a fixed part, "
    "along the straight line through two sizes). Memory is the proportional set size "
    "of the whole process tree; askwise's in a fresh process of its own, whose first call is watched, the peers' in "
    "their first timed round."
)


def write(out: Path, form: str, done: dict[str, dict[str, Any]], run: dict[str, Any]) -> None:
    """All three files; `done` are the records by name, `run` what is known of the run."""
    done = {name: done[name] for name in ROWS if name in done}
    record = {
        "command": " ".join(["python", "benchmarks/bench.py", *sys.argv[1:]]),
        "form": form,
        "cpu": cpu(),
        "versions": versions(),
        "protocol": PROTOCOL,
        **run,
        "rows": [{k: v for k, v in one.items() if k not in run} for one in done.values()],
    }
    (out / "bench.json").write_text(json.dumps(record, indent=1) + "\n")
    scaling = done.get("scaling")
    if scaling and all(line["value"] is not None for line in scaling["lines"]):
        plot(scaling["facts"], out / "bench.png")
    (out / "bench.md").write_text(_text(record, done, picture=(out / "bench.png").exists()))


def _text(record: dict[str, Any], done: dict[str, dict[str, Any]], *, picture: bool) -> str:
    form, limits = record["form"], record["limits_gflops"]
    title = "# Speed beside the peers"
    if form != "full":
        title += f" ({form} form: smaller than the goals are meant for)"
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    parts = [title, table([line for one in done.values() for line in recorded(one).lines]), PROTOCOL]
    parts.append(
        f"{record['threads']} threads, {record['cpu']}; GEMM {min(limits):.0f} to {max(limits):.0f} GFLOP/s; "
        f"{versions}. Command: `{record['command']}`. Commit: {record['commit']}."
    )
    if picture:
        parts.append("![Cost against N and T](bench.png)")
    return "\n\n".join(parts) + "\n"
