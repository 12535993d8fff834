import json
from dataclasses import replace

import pytest
from tiny_comparison import TINY, job

from askwise.compare import jobs, run, runs
from askwise.errors import InputError


@pytest.fixture
def tried(monkeypatch):
    """The jobs that were really done."""
    done = []
    own = runs.trial

    def counted(protocol, one, items):
        done.append(one)
        return own(protocol, one, items)

    monkeypatch.setattr(runs, "trial", counted)
    return done


def test_jobs_go_seed_by_seed() -> None:
    assert jobs(["point", "bbb"], [3, 5]) == [job("point", 3), job("bbb", 3), job("point", 5), job("bbb", 5)]


def test_what_is_in_the_journal_is_not_done_again(tmp_path, tried) -> None:
    heard = []
    kept = tmp_path / "rows.jsonl"
    wanted = jobs(["point", "bbb"], [0])
    first = run(TINY, wanted[:1], kept=kept)
    both = run(TINY, wanted, kept=kept, tell=lambda one, state: heard.append((one.posterior, state)))
    assert tried == wanted
    assert both.rows[0] == first.rows[0]
    assert heard == [("point", "kept"), ("bbb", "learning"), ("bbb", "done")]
    assert [json.loads(line) for line in kept.read_text().splitlines()] == both.rows
    again = run(TINY, wanted[::-1], kept=kept)
    assert again.rows == both.rows[::-1]
    assert len(tried) == 2


def test_another_protocol_is_done_anew_in_the_same_journal(tmp_path, tried) -> None:
    kept = tmp_path / "rows.jsonl"
    for protocol in (TINY, replace(TINY, epochs=1), TINY):
        [row] = run(protocol, [job()], kept=kept).rows
        assert row["protocol"]["epochs"] == protocol.epochs
    assert len(tried) == 2


def test_a_run_that_was_interrupted_goes_on(tmp_path, monkeypatch, tried) -> None:
    kept, wanted = tmp_path / "rows.jsonl", jobs(["point", "bbb"], [0])

    def interrupted(one, state):
        if one == wanted[1]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(TINY, wanted, kept=kept, tell=interrupted)
    assert len(run(TINY, wanted, kept=kept).rows) == 2
    assert tried == wanted


def test_a_posterior_that_refuses_does_not_stop_the_others(tmp_path) -> None:
    dry = replace(TINY, network_options={"hidden": [8]})
    heard = []
    found = run(
        dry,
        jobs(["mc_dropout", "point"], [0]),
        kept=tmp_path / "rows.jsonl",
        tell=lambda one, state: heard.append(state),
    )
    assert [row["posterior"] for row in found.rows] == ["point"]
    assert "needs a network that calls dropout" in found.refused["mc_dropout"]
    assert heard == ["learning", "refused", "learning", "done"]


def test_what_no_posterior_could_do_is_refused_at_once(tmp_path) -> None:
    with pytest.raises(InputError, match="ask for at most so many"):
        run(replace(TINY, labels=5000), [job()], kept=tmp_path / "rows.jsonl")
    assert not (tmp_path / "rows.jsonl").exists()


def test_a_row_says_where_it_comes_from(tmp_path) -> None:
    [row] = run(TINY, [job("bbb")], kept=tmp_path / "rows.jsonl").rows
    assert {"commit", "torch", "threads", "askwise", "options", "protocol"} <= row.keys()
    assert row["options"]["last"] == 1
