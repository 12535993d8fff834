"""One contestant as a process: a request per line on stdin, an answer per line on stdout, both JSON.

    python -m peers.serve plain 2        (contestant, threads; from the folder benchmarks/)

{"do": "prepare", "task": "mc_dropout", "options": {...}} makes data and model; {"do": "run", ..., "repeats": 3}
times what was prepared and answers with the seconds and a summary of the result.
"""

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from torch import Tensor


def main(name: str, threads: int) -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not look like an answer
    warnings.simplefilter("ignore")
    # Who starts processes of its own has no more cores than who starts threads.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    torch.set_num_threads(threads)
    prepared: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        try:
            answer = _answer(name, json.loads(line), prepared, threads)
        except Exception as error:
            text = str(error).splitlines() or [""]
            answer = {"error": f"{type(error).__name__}: {text[0]}"}
        replies.write(json.dumps(answer) + "\n")
        replies.flush()


def _answer(name: str, request: dict, prepared: dict[str, Callable[[], Any]], threads: int) -> dict[str, Any]:
    key = json.dumps([request["task"], request["options"]], sort_keys=True)
    torch.set_num_threads(request.get("threads") or threads)
    if key not in prepared:
        torch.manual_seed(0)
        prepared[key] = import_module(f"peers.{name}").TASKS[request["task"]](**request["options"])
    if request["do"] == "prepare":
        return {}
    seconds = []
    for _ in range(request["repeats"]):
        start = time.perf_counter()
        result = prepared[key]()
        seconds.append(time.perf_counter() - start)
    return {"seconds": seconds, **summary(result)}


def summary(result: Any) -> dict[str, Any]:
    """Of scores, how many there are, their mean and whether all are numbers; a dict as it is."""
    if isinstance(result, dict):
        return result
    scores = result if isinstance(result, Tensor) else torch.as_tensor(result)
    return {
        "count": len(scores),
        "mean": scores.double().mean().item(),
        "finite": bool(scores.isfinite().all()),
    }


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
