"""A driver for tests/engine/test_ray_cluster.py: it scores items with Gal's CNN, a few at a time.

Called as `ray_driver.py FOLDER NAME ENGINE ADDRESS PAUSE`; ENGINE is local, ray, pool or journal. Every
shard that is begun or done is a line in FOLDER/NAME.log; the scores go to FOLDER/NAME.scores.
"""

import os
import sys
import time
from pathlib import Path

import torch

import askwise as aw
from askwise.engine import Local, ShardResult, Work, open_engine, remembered
from askwise.train import Training

SHARDS = [[at, at + 8] for at in range(0, 128, 8)]


def model():
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(128, 1, 28, 28, generator=rng)
    torch.manual_seed(0)
    data = (x[:32], torch.arange(32) % 10)
    quick = Training(epochs=1, batch_size=16)
    return aw.fit(aw.nets.gal_cnn(), data, posterior=aw.mc_dropout(), training=quick), x


def main(folder, name, kind, address, pause):
    fitted, x = model()
    engine = Local(1) if kind == "local" else open_engine("ray", address=address)
    if kind == "pool":
        found = [aw.score_pool(fitted, x, "bald", draws=5, seed=1, engine=engine)]
    else:
        if kind == "journal":
            engine = remembered(engine, folder / "journal", "job")
        found = []
        for one in engine.map(make(fitted, x, folder / f"{name}.log", float(pause)), SHARDS):
            found.append(one.tensors[0])
            sys.stdout.write(f"{len(found)}\n")
            sys.stdout.flush()
    (folder / f"{name}.scores").write_bytes(torch.cat(found).numpy().tobytes())


def machine():
    """The machine of the cluster that this is, if any."""
    ray = sys.modules.get("ray")
    return ray.get_runtime_context().get_node_id() if ray else "here"


def make(fitted, x, log, pause):
    def told(*words):
        with log.open("a") as file:
            file.write(" ".join(map(str, words)) + "\n")

    def compute(shard):
        told("begun", shard[0], os.getpid(), machine())
        time.sleep(pause)  # time for an accident
        scores = aw.score_pool(fitted, x[shard[0] : shard[1]], "bald", draws=5, seed=1)
        told("done", shard[0])
        return ShardResult((scores,))

    return lambda: Work(lambda shard: shard, compute)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
