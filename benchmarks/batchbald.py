"""BatchBALD beside batchbald_redux: time, memory and quality of the picks, interleaved in one run.

    python benchmarks/batchbald.py --out results/batchbald.json      (tens of minutes, 3 GB: theirs is slow)
    python benchmarks/batchbald.py --short                           (a minute)

Each run is a process of its own with the same threads and the same file of log-probabilities; ours
and theirs take turns. Theirs lives in a virtual environment beside the project, made on first use.
The referee is a plain Monte Carlo estimate of the joint score that neither of the two uses.
"""

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / ".venv-peers"
CASES = {"unsaturated": 1.0, "saturated": 3.0}  # spread of the drawn weights around their mean


def predictions(n: int, draws: int, classes: int, *, spread: float, seed: int) -> torch.Tensor:
    """Log-probs [N, T, C] of a linear layer on 64 features, under draws of its weights."""
    rng = torch.Generator().manual_seed(seed)
    features = torch.randn(n, 64, generator=rng) / 8
    mean = 3 * torch.randn(64, classes, generator=rng)
    noise = torch.randn(draws, 64, classes, generator=rng)
    return torch.einsum("nd,tdc->ntc", features, mean + spread * noise).log_softmax(-1)


def ours(log_probs: torch.Tensor, picks: int) -> list[int]:
    from askwise.selection import select

    warnings.simplefilter("ignore")
    return select("batchbald", log_probs=log_probs, count=picks).tolist()


def theirs(log_probs: torch.Tensor, picks: int) -> list[int]:
    """In float64, as its own examples run it: in float32 it returns NaN once draws are sharp."""
    from batchbald_redux.batchbald import get_batchbald_batch

    return get_batchbald_batch(log_probs.double(), picks, 10_000, dtype=torch.double).indices


def work(who: str, file: str, picks: int, threads: int) -> None:
    """One timed run in this process, printed as JSON; a small one first, to load what loads late."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    log_probs = torch.from_numpy(np.load(file))
    choose = {"ours": ours, "theirs": theirs}[who]
    choose(log_probs[:50].contiguous(), 2)
    start, busy = time.perf_counter(), time.process_time()
    chosen = choose(log_probs, picks)
    seconds, cpu = time.perf_counter() - start, time.process_time() - busy
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu, "peak_mb": peak_mb(), "picks": chosen}))


def peak_mb() -> float:
    """Highest resident memory of this process; getrusage would count the parent's before exec."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def joint_score(
    log_probs: torch.Tensor, chosen: list[int], *, samples: int = 1_000_000
) -> tuple[float, float]:
    """Mutual information of the chosen labels and the draws, and its standard error, by plain sampling."""
    rng = torch.Generator().manual_seed(1)
    logs, draws = log_probs[chosen].double(), log_probs.shape[1]
    surprise = []
    for _ in range(max(1, samples // 20_000)):
        draw = torch.arange(20_000) % draws
        total = torch.zeros(20_000, draws, dtype=torch.float64)
        for one in logs:
            label = torch.multinomial(one[draw].exp(), 1, generator=rng).squeeze(1)
            total += one[:, label].T
        own = total[torch.arange(20_000), draw]
        surprise.append(own - total.logsumexp(1) + math.log(draws))
    told = torch.cat(surprise)
    return told.mean().item(), told.std().item() / math.sqrt(len(told))


def make_peers() -> Path:
    """The python of the peers' environment; made on first use."""
    python = PEERS / "bin" / "python"
    if not (PEERS / ".batchbald").exists():
        install = [str(python), "-m", "pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt")]
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
        subprocess.run([*install, "torch==2.13.0", "numpy", "tqdm", "psutil"], check=True)
        subprocess.run([*install, "--no-deps", "batchbald_redux==2.0.5", "toma==1.1.0"], check=True)
        (PEERS / ".batchbald").touch()
    return python


def run(who: str, file: str, options: argparse.Namespace) -> dict:
    """One worker's answer."""
    python = {"ours": sys.executable, "theirs": str(PEERS / "bin" / "python")}[who]
    command = [python, __file__, "--work", who, "--file", file]
    command += ["--picks", str(options.picks), "--threads", str(options.threads)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def compare(case: str, options: argparse.Namespace) -> dict:
    """Both on one case: ours as often as asked, around each run of theirs."""
    log_probs = predictions(options.n, options.draws, options.classes, spread=CASES[case], seed=options.seed)
    found: dict[str, list[dict]] = {"ours": [], "theirs": []}
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "log_probs.npy")
        np.save(file, log_probs.numpy())
        for turn in ["ours", "theirs", "ours"] * options.repeats:
            found[turn].append(run(turn, file, options))
    out: dict = {"case": case, "spread": CASES[case], "ceiling": math.log(options.draws)}
    for who, runs in found.items():
        score, error = joint_score(log_probs, runs[0]["picks"])
        out[who] = {
            "seconds": statistics.median(r["seconds"] for r in runs),
            "cpu_seconds": statistics.median(r["cpu_seconds"] for r in runs),
            "all_seconds": [r["seconds"] for r in runs],
            "peak_mb": max(r["peak_mb"] for r in runs),
            "picks": runs[0]["picks"],
            "joint_score": score,
            "standard_error": error,
        }
    out["ratio"] = out["theirs"]["seconds"] / out["ours"]["seconds"]
    out["cpu_ratio"] = out["theirs"]["cpu_seconds"] / out["ours"]["cpu_seconds"]
    out["same_picks"] = len(set(out["ours"]["picks"]) & set(out["theirs"]["picks"]))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--picks", type=int, default=10)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--short", action="store_true", help="1,000 items and 6 picks")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.file, options.picks, options.threads)
        return
    if options.short:
        options.n, options.picks = 1_000, 6
    make_peers()
    rows = []
    print(
        f"N = {options.n:,}, T = {options.draws}, C = {options.classes}, {options.picks} picks, "
        f"{options.threads} threads; ours in float32, theirs in float64"
    )
    print(f"{'case':12} {'':7} {'seconds':>9} {'CPU':>9} {'MB':>7} {'joint score':>18} {'of log T':>9}")
    for case in CASES:
        row = compare(case, options)
        rows.append(row)
        for who in ("ours", "theirs"):
            r = row[who]
            told = f"{r['joint_score']:.3f} +- {r['standard_error']:.3f}"
            print(
                f"{case:12} {who:7} {r['seconds']:9.2f} {r['cpu_seconds']:9.2f} {r['peak_mb']:7.0f} {told:>18} {row['ceiling']:9.3f}"
            )
        print(
            f"{case:12} ratio   {row['ratio']:8.0f}x {row['cpu_ratio']:8.0f}x, {row['same_picks']} of {options.picks} picks the same"
        )
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(_report(options, rows), indent=1) + "\n")


def _report(options: argparse.Namespace, rows: list[dict]) -> dict:
    return {
        "command": " ".join(["python", "benchmarks/batchbald.py", *sys.argv[1:]]),
        "protocol": "one process per run, a warm-up on 50 items, ours before and after each run of theirs; "
        "median seconds and CPU seconds (the fairer of the two on a busy machine), highest peak of resident memory (interpreter, torch and input included); "
        "joint score by plain Monte Carlo over a million labels",
        "n": options.n,
        "draws": options.draws,
        "classes": options.classes,
        "picks": options.picks,
        "seed": options.seed,
        "threads": options.threads,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "batchbald_redux": "2.0.5, float64, 10,000 samples",
        "cases": rows,
    }


if __name__ == "__main__":
    main()
