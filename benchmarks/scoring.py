"""Scoring a pool: askwise against a plain PyTorch loop, interleaved in one run.

    python benchmarks/scoring.py                     # N = 2,000, T = 100
    python benchmarks/scoring.py --n 500 --rounds 2  # a short look

Both score the same items with BALD under T draws of Gal's CNN. The plain loop is what a careful user
writes: T passes over batches of 256 under no_grad, log-probabilities stacked, then BALD.
"""

import argparse
import json
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import torch

import askwise as aw

BATCH = 256
REPEATS = 3  # of askwise within a round: it is short, and one hiccup would weigh much


def plain_dropout(network: torch.nn.Module, x: torch.Tensor, draws: int) -> torch.Tensor:
    """MC dropout as tutorials write it: dropout on, T passes."""
    network.train()
    with torch.no_grad():
        passes = [torch.cat([network(part).log_softmax(-1) for part in x.split(BATCH)]) for _ in range(draws)]
    return aw.score("bald", torch.stack(passes, dim=1))


def plain_last_layer(
    network: torch.nn.Module, x: torch.Tensor, draws: int, mean: torch.Tensor, std: torch.Tensor
) -> torch.Tensor:
    """BNN-1 as Bayesian-layer libraries run it: a new last layer, then a whole pass, T times."""
    network.eval()
    passes = []
    with torch.no_grad():
        for _ in range(draws):
            network.dense2.weight.copy_(mean + std * torch.randn_like(mean))
            passes.append(torch.cat([network(part).log_softmax(-1) for part in x.split(BATCH)]))
        network.dense2.weight.copy_(mean)
    return aw.score("bald", torch.stack(passes, dim=1))


def timed(function: Callable[[], torch.Tensor]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def gemm_gflops() -> float:
    """What a large float32 product reaches here: the limit for everything below."""
    a = torch.randn(2048, 2048)
    best = min(timed(lambda: a @ a) for _ in range(5))
    return 2 * 2048**3 / best / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()

    rng = torch.Generator().manual_seed(0)
    x = torch.rand(options.n, 1, 28, 28, generator=rng)
    few = x[:64], torch.randint(0, 10, (64,), generator=rng)
    quick = aw.Training(epochs=1)
    fitted = {
        "mc_dropout": aw.fit(aw.nets.gal_cnn(), few, posterior=aw.mc_dropout(), training=quick),
        "BNN-1": aw.fit(aw.nets.gal_cnn(), few, posterior=aw.bbb(last=1), training=quick),
    }
    dropout_network, last_network = aw.nets.gal_cnn(), aw.nets.gal_cnn()
    mean = last_network.dense2.weight.detach().clone()
    plain = {
        "mc_dropout": lambda: plain_dropout(dropout_network, x, options.draws),
        "BNN-1": lambda: plain_last_layer(last_network, x, options.draws, mean, torch.full_like(mean, 0.05)),
    }
    seconds: dict[str, dict[str, list[float]]] = {}
    limit = gemm_gflops()
    first = {
        name: timed(lambda name=name: aw.score_pool(fitted[name], x, "bald", draws=options.draws))
        for name in fitted
    }
    for _ in range(options.rounds):
        for name in fitted:
            row = seconds.setdefault(name, {"askwise": [], "plain loop": []})
            again = [
                timed(lambda name=name: aw.score_pool(fitted[name], x, "bald", draws=options.draws))
                for _ in range(REPEATS)
            ]
            row["askwise"].append(statistics.median(again))
            row["plain loop"].append(timed(plain[name]))

    rows = []
    for name, row in seconds.items():
        ratios = [b / a for a, b in zip(row["askwise"], row["plain loop"], strict=True)]
        rows.append(
            {
                "network": name,
                "askwise_s": statistics.median(row["askwise"]),
                "askwise_first_call_s": first[name],
                "plain_loop_s": statistics.median(row["plain loop"]),
                "ratio": statistics.median(ratios),
                "ratio_min": min(ratios),
                "ratio_max": max(ratios),
            }
        )
    threads = torch.get_num_threads()
    print(f"N = {options.n:,}, T = {options.draws}, {threads} threads, GEMM {limit:.0f} GFLOP/s")
    for row in rows:
        print(
            f"{row['network']:>12}  askwise {row['askwise_s']:.3f} s (first call {row['askwise_first_call_s']:.3f} s)  plain loop {row['plain_loop_s']:.1f} s "
            f"{row['ratio']:.0f}x ({row['ratio_min']:.0f} to {row['ratio_max']:.0f})"
        )
    if options.out:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
        record = {
            "command": f"python benchmarks/scoring.py --n {options.n} --draws {options.draws} "
            f"--rounds {options.rounds}",
            "commit": commit,
            "torch": torch.__version__,
            "threads": threads,
            "cpu": torch.backends.cpu.get_cpu_capability(),
            "python": platform.python_version(),
            "gemm_gflops": round(limit, 1),
            "protocol": "one process, interleaved: askwise three times (median), then the plain loop; ratios within a round; "
            "the first call, which also builds the program of a model, apart; generated images",
            "rows": rows,
        }
        options.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
