import math
import subprocess
import sys
import warnings
from pathlib import Path

import brute_force
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.acquire import bald
from askwise.errors import InputError
from askwise.selection import SaturationWarning, select

module = sys.modules["askwise.selection.batchbald"]  # the package has a function of this name


def picks(log_probs, count, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SaturationWarning)
        return select("batchbald", log_probs=log_probs, count=count, **options).tolist()


def score(log_probs, chosen):
    return brute_force.joint_information([brute_force.items(log_probs)[n] for n in chosen])


def linear(n, draws, classes, *, spread, seed=0):
    """Predictions of a linear last layer under draws of its weights, as in a real pool."""
    rng = torch.Generator().manual_seed(seed)
    features = torch.randn(n, 16, dtype=torch.float64, generator=rng) / 4
    weights = 3 * torch.randn(16, classes, dtype=torch.float64, generator=rng)
    noise = torch.randn(draws, 16, classes, dtype=torch.float64, generator=rng)
    return torch.einsum("nd,tdc->ntc", features, weights + spread * noise).log_softmax(-1)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 6),
    st.integers(2, 3),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_every_pick_is_as_good_as_the_best_by_enumeration(seed, draws, classes, certain, dtype):
    log_probs = brute_force.predictions(7, draws, classes, seed=seed, certain=certain)
    items = brute_force.items(log_probs)
    chosen = picks(log_probs.to(dtype), 4)
    for known in range(4):  # step by step, so that a tie may go either way
        before = [items[n] for n in chosen[:known]]
        rest = [n for n in range(7) if n not in chosen[:known]]
        best = max(brute_force.joint_information([*before, items[n]]) for n in rest)
        found = brute_force.joint_information([*before, items[chosen[known]]])
        assert found == pytest.approx(best, abs=1e-5 if dtype == torch.float32 else 1e-6)


def test_picks_equal_the_printed_algorithm():
    log_probs = brute_force.predictions(12, 5, 3, scale=1.0)
    assert picks(log_probs, 4) == brute_force.greedy_batch(brute_force.items(log_probs), 4)[0]


@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0, 10.0])
@pytest.mark.parametrize(("limit", "samples"), [(10_000, 2_500), (300, 300)])
def test_looking_at_few_items_gives_the_picks_of_looking_at_all(monkeypatch, spread, limit, samples):
    def look_at_all(joint, log_probs, order, bounds):
        gains = module._gains(joint, log_probs, order)
        gains[bounds == -torch.inf] = -torch.inf
        bounds[:] = gains
        return int(gains.argmax())

    for seed in range(4):
        log_probs = linear(300, 30, 5, spread=spread, seed=seed)
        lazy = picks(log_probs, 7, limit=limit, samples=samples)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_greediest", look_at_all)
            assert picks(log_probs, 7, limit=limit, samples=samples) == lazy


def test_few_items_are_looked_at_again(monkeypatch):
    looked = []
    gains = module.gains
    monkeypatch.setattr(
        module, "gains", lambda joint, probs: (looked.append(len(probs)), gains(joint, probs))[1]
    )
    picks(linear(3000, 50, 10, spread=0.5), 10)
    assert sum(looked) < 2.5 * 3000  # of 10 x 3,000


def test_the_first_pick_is_balds():
    log_probs = brute_force.predictions(50, 10, 4)
    assert picks(log_probs, 1) == [int(bald(log_probs).argmax())]


def test_a_batch_has_no_duplicates_where_top_k_has():
    """Seven copies of the most uncertain item, and others that teach something else."""
    log_probs = brute_force.predictions(10, 8, 3, certain=1.0, seed=4)
    best = bald(log_probs).argmax()
    pool = torch.cat([log_probs, log_probs[best].expand(6, -1, -1)])
    copies = {int(best), *range(10, 16)}
    assert len(copies & set(picks(pool, 3))) == 1
    assert set(bald(pool).topk(3).indices.tolist()) <= copies  # control


def test_batch_size_and_options_reach_the_algorithm():
    """DISTIL dropped them and scored with a batch size of 1."""
    log_probs = linear(200, 20, 5, spread=2.0)
    alone = bald(log_probs).argsort(descending=True)[:5].tolist()
    together = picks(log_probs, 5)
    assert len(together) == 5
    assert together != alone
    assert score(log_probs, together) > score(log_probs, alone)
    assert picks(log_probs, 8, limit=5, samples=5) != picks(log_probs, 8)


@pytest.mark.parametrize("option", ["limit", "samples"])
def test_options_must_be_whole_numbers(option):
    with pytest.raises(InputError, match=f"{option} must be a whole number"):
        picks(brute_force.predictions(5, 4, 3), 2, **{option: 0})


@pytest.mark.parametrize("certain", [0.3, 1.0])
@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_float32_picks_are_as_good_as_float64_picks(spread, certain):
    log_probs = linear(400, 40, 10, spread=spread)
    sure = torch.rand(400, 40, generator=torch.Generator().manual_seed(0)) < certain
    hot = torch.nn.functional.one_hot(log_probs.argmax(-1), 10).double().log()
    log_probs = torch.where(sure[..., None], hot, log_probs)
    single, double = picks(log_probs.float(), 3), picks(log_probs, 3)  # sure draws make ties
    assert score(log_probs, single) == pytest.approx(score(log_probs, double), abs=1e-5)
    assert len(set(picks(log_probs.float(), 10))) == 10


def test_sampled_picks_are_nearly_as_good_as_exact_ones():
    log_probs = linear(60, 12, 3, spread=1.5, seed=3)
    exact, sampled = picks(log_probs, 6), picks(log_probs, 6, limit=60, samples=60)
    assert score(log_probs, sampled) > 0.98 * score(log_probs, exact)


def test_saturation_is_said_and_uncertainty_left_over_is_not():
    with pytest.warns(SaturationWarning, match=r"after 2 of 3 picks .* log\(8 draws\) = 2.08"):
        select("batchbald", log_probs=brute_force.predictions(30, 8, 4, certain=1.0, seed=2), count=3)
    select("batchbald", log_probs=linear(30, 8, 4, spread=0.2), count=3)  # warnings are errors here


def test_one_draw_says_that_it_can_tell_nothing():
    with pytest.warns(SaturationWarning, match=r"log\(1 draws\) = 0.00"):
        assert (
            len(set(select("batchbald", log_probs=brute_force.predictions(9, 1, 4), count=9).tolist())) == 9
        )


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak of memory from Linux")
def test_memory_does_not_grow_with_the_pool():
    """Baal needs 4.8 GB for two picks on 2,000 items."""
    program = """
import warnings, torch
from pathlib import Path
from askwise.selection import select

def rise(action):  # MB above the present, at the highest; getrusage would count the parent's
    Path("/proc/self/clear_refs").write_text("5")
    now = read("VmRSS:")
    action()
    return (read("VmHWM:") - now) / 1024

def read(key):
    return int(Path("/proc/self/status").read_text().split(key)[1].split()[0])

warnings.simplefilter("ignore")
torch.set_num_threads(1)
log_probs = torch.randn(6000, 100, 10).mul_(2).log_softmax(-1)
print(rise(lambda: select("batchbald", log_probs=log_probs, count=3)))
print(rise(lambda: log_probs.repeat(4, 1, 1)))
"""
    for _ in range(3):  # huge pages come by chance, and only ever add
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        rise, control = map(float, done.stdout.split())
        if rise < 60:  # MB, beside 24 MB of log-probs
            break
    assert rise < 60
    assert control > 80  # the measure sees the 92 MB of four copies


def test_the_joint_score_is_at_most_log_of_the_draws():
    log_probs = linear(40, 6, 3, spread=5.0)
    assert score(log_probs, picks(log_probs, 4)) <= math.log(6) + 1e-9
