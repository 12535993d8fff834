"""The benchmark's own arithmetic: limits, ratios, scaling, the table; its network and its referee."""

import json
import math
import mmap
import os
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import askwise as aw

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
Import = Callable[[str], ModuleType]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Import]:
    """Modules of the folder benchmarks/, which is no package of ours."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    yield import_module
    for name in [m for m in sys.modules if m.split(".")[0] in ("speed", "peers", "provenance")]:
        del sys.modules[name]


def test_the_work_of_each_way_is_that_of_the_tables(bench: Import) -> None:
    limit = bench("speed.limit")
    assert pytest.approx(17.5, abs=0.05) == limit.PASS
    assert limit.whole_passes(100) / 1e2 == pytest.approx(17.5, abs=0.05)  # TFLOP at 10,000 images
    assert limit.masked_suffix(100) / 1e2 == pytest.approx(0.30, abs=0.005)
    assert limit.last_layer(100) / 1e2 == pytest.approx(0.178, abs=0.001)
    assert 93.8e3 / limit.training_step() == pytest.approx(1810, abs=5)  # images a second at 93.8 GFLOP/s


def test_joint_choice_counts_exact_configurations_and_then_samples(bench: Import) -> None:
    work = bench("speed.limit").joint_choice(10, 4, 2, 4, samples=3)
    assert work == 2 * 10 * 4 * 2 * (1 + 2 + 3 + 3) / 1e6


def test_twice_the_time_of_the_limit_is_a_multiple_of_two(bench: Import) -> None:
    assert bench("speed.limit").multiple(2.0, 184e3, 184.0) == pytest.approx(2.0)


def test_a_large_product_has_a_rate(bench: Import) -> None:
    assert bench("speed.limit").gemm_gflops(torch.get_num_threads(), times=1) > 0.1


def test_ratios_are_taken_within_a_round(bench: Import) -> None:
    found = bench("speed.spread").ratios([10.0, 40.0, 30.0], [1.0, 2.0, 1.0])
    assert (found.median, found.low, found.high) == (20.0, 10.0, 30.0)


def test_fewer_items_are_scaled_in_proportion_or_without_the_fixed_cost(bench: Import) -> None:
    extended = bench("speed.contest").extended
    assert extended(100, 2.0, 1000) == 20.0
    assert extended(100, 3.0, 1000, (50, 2.0)) == pytest.approx(21.0)  # 1 s fixed, 2 s for a hundred
    assert extended(100, 3.0, 1000, (50, 3.5)) == 3.0  # noise never makes a cost shrink


def _timed(bench: Import) -> Any:
    contest = bench("speed.contest")
    ours = contest.Entry("askwise", "askwise", "score", {"n": 1000}, 184e3, 1000)
    theirs = contest.Entry("plain loop", "plain", "score", {"n": 100}, 1840e3, 1000)
    timings = {
        "askwise": contest.Timing(ours, [2.0, 2.0]),
        "plain loop": contest.Timing(theirs, [100.0, 300.0], beyond_mb=12.3),
    }
    return contest.Contest(timings, [184.0, 184.0])


def test_a_line_says_the_ratio_its_spread_and_what_was_scaled(bench: Import) -> None:
    line = bench("speed.line").faster(
        _timed(bench), "askwise", "plain loop", key="k", what="scoring", goal=90
    )
    assert (line.value, line.low, line.high, line.reached) == (100.0, 50.0, 150.0, True)
    assert "askwise 2 s (2.0x the limit of its work)" in line.measured
    assert (
        "20.0x the limit of its work, timed at 100 items and scaled to 1,000, 12 MB beyond" in line.measured
    )
    text = bench("speed.table").table([line])
    assert "| 100x (50 to 150) | 90x | yes |  |" in text


def test_who_could_not_be_run_stays_in_the_table_with_the_reason(bench: Import) -> None:
    found = _timed(bench)
    found.timings["plain loop"].error = "ImportError: no such peer"
    line = bench("speed.line").faster(found, "askwise", "plain loop", key="k", what="scoring", goal=90)
    assert line.reached is None
    row = bench("speed.table").table([line]).splitlines()[-1]
    assert "plain loop: ImportError: no such peer" in row
    assert "| - | 90x | not measured |" in row
    assert not bench("speed.finding").Finding([line], {}).complete


def test_a_goal_at_most_is_missed_from_above_and_its_reason_is_shown(bench: Import) -> None:
    line, table = bench("speed.line").Line, bench("speed.table").table
    missed = line("k", "memory", "", value=500, goal=400, sense="at most", unit=" MB")
    kept = line("k", "memory", "", value=300, goal=400, sense="at most", unit=" MB")
    assert "| 500 MB | at most 400 MB | no | big draws |" in table([missed], {"k": "big draws"})
    assert "| 300 MB | at most 400 MB | yes |  |" in table([kept], {"k": "big draws"})


def test_what_is_finished_is_found_again_for_the_same_code_alone(bench: Import, tmp_path: Path) -> None:
    record, finding = bench("speed.record"), bench("speed.finding")
    found = finding.Finding([bench("speed.line").Line("k", "what", "m", value=1.0)], {"a": [1]})
    like = {"commit": "abc", "sizes": {"n": 5, "pools": [1, 2]}}
    record.append(tmp_path / "bench.jsonl", {"name": "mc_dropout", **like, **found.record()})
    again = record.finished(tmp_path / "bench.jsonl", like)
    assert finding.recorded(again["mc_dropout"]) == found
    assert record.finished(tmp_path / "bench.jsonl", {**like, "commit": "abd"}) == {}


def test_the_network_of_the_peers_is_ours(bench: Import) -> None:
    theirs = bench("peers.common").gal_cnn()
    torch.manual_seed(0)
    ours = aw.nets.gal_cnn()
    assert str(theirs) == str(ours)
    for name, tensor in theirs.state_dict().items():
        assert torch.equal(tensor, ours.state_dict()[name])


def test_the_formula_of_the_peers_is_ours(bench: Import) -> None:
    log_probs = torch.randn(7, 5, 3).log_softmax(-1)
    assert torch.allclose(bench("peers.common").bald(log_probs), aw.score("bald", log_probs), atol=1e-6)


def test_generated_rows_do_not_depend_on_how_they_are_cut(bench: Import) -> None:
    generated = bench("peers.generated").Generated
    whole = generated(9000, 3)[0:9000]
    parts = generated(9000, 3)
    cut = torch.cat([parts[start : start + 700] for start in range(0, 9000, 700)])
    assert len(whole) == len(parts) == 9000
    assert torch.equal(whole, cut)
    assert torch.equal(generated(9000, 3)[4090:4100], whole[4090:4100])


def test_the_referee_gives_one_item_its_bald(bench: Import) -> None:
    joint = bench("speed.joint")
    log_probs = joint.predictions(20, spread=1.0, draws=30, classes=4)
    expected = aw.score("bald", log_probs)[3].item()
    found, error = joint.joint_score(log_probs, [3], samples=40_000)
    assert abs(found - expected) < 5 * error + 1e-4
    assert found < math.log(4)


def test_memory_of_a_process_tree_is_seen(bench: Import) -> None:
    memory = bench("speed.memory")
    with memory.Watch(os.getpid(), every=0.001) as watch:
        held = mmap.mmap(-1, 30 * 2**20)  # new pages: the process may have freed ones that it knows already
        held.write(b"x" * len(held))
        limit = time.monotonic() + 120
        while watch.beyond < 15 and time.monotonic() < limit:
            time.sleep(0.001)
    assert watch.before > 10
    assert watch.peak >= watch.before + 15


def test_every_file_of_the_record_is_written(bench: Import, tmp_path: Path) -> None:
    line = bench("speed.line").Line(
        "startup.help", "`askwise --help`", "0.2 s", value=0.2, goal=0.5, unit=" s"
    )
    done = {"startup": {"name": "startup", **bench("speed.finding").Finding([line], {}).record()}}
    run = {"commit": "abc", "threads": 1, "sizes": {}, "limits_gflops": [90.0, 92.0]}
    bench("speed.report").write(tmp_path, "short", done, run)
    assert "short form" in (tmp_path / "bench.md").read_text()
    assert json.loads((tmp_path / "bench.json").read_text())["rows"][0]["name"] == "startup"
