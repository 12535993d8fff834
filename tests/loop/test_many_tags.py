"""Five thousand tags: fitted, scored, chosen and measured by the loop within a stated memory."""

import subprocess
import sys

import pytest

MEGABYTES = 1500  # of the largest process; torch alone takes 240
RUN = """
import resource
import torch
import askwise as aw

rng = torch.Generator().manual_seed(0)
tags = 5000
x, y = torch.randn(400, 384, generator=rng), (torch.rand(400, tags, generator=rng) < 3 / tags).float()
ids = [f"item-{number}" for number in range(300)]
learner = aw.Learner(
    aw.nets.linear(384, tags), pool=aw.pool.arrays(x[:300], ids=ids), task="multilabel", tags=tags,
    posterior=POSTERIOR, acquire=ACQUIRE, draw=DRAW, draws=40, initial=50, batch=20, budget=70,
    training={"epochs": 2}, test=(x[300:], y[300:]), engine_options={"processes": 1},
)
learner.run(oracle=dict(zip(ids, y, strict=False)))
assert len(learner.rounds()) == 2
own, others = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(max(own, others) // 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("acquire", "posterior", "draw"),
    [("top_u", "vogn", "weights"), ("max_entropy", "vogn", "weights"), ("bald", "vogn", "logits")],
)
def test_five_thousand_tags_fit_into_the_stated_memory(acquire, posterior, draw):
    code = RUN.replace("POSTERIOR", repr(posterior)).replace("ACQUIRE", repr(acquire))
    ended = subprocess.run(
        [sys.executable, "-c", code.replace("DRAW", repr(draw))], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    used = int(ended.stdout)
    sys.stdout.write(f"\n{acquire}, {posterior}, {draw}: {used} MB\n")
    assert used < MEGABYTES
