import json
from dataclasses import replace

import pytest
import toy_paper

from askwise.errors import CorruptError
from askwise.papers import do, hours, missing, outcome, overview, results, rows, runs_file, write
from askwise.papers.claims import FAILS, HOLDS, NONE, OPEN, decide
from askwise.papers.record import Claim, Pair


@pytest.fixture(autouse=True)
def _no_calls():
    toy_paper.CALLS.clear()


def run(out, seeds, *, quick=True):
    paper = toy_paper.PAPER
    entries = paper.entries(quick=quick)
    found = results(entries, rows(runs_file(out, paper)), quick=quick)
    jobs = missing(entries, seeds, found, quick=quick)
    do(paper, jobs, out=out, data_dir=None, command="askwise reproduce toy")
    return jobs


def test_a_run_is_kept_with_command_seed_protocol_machine_and_times(tmp_path):
    run(tmp_path, [0])
    line = json.loads((tmp_path / "toy" / "runs.jsonl").read_text().splitlines()[0])
    assert line["key"] == {"entry": "good", "seed": 0, "quick": True}
    assert line["settings"] == {"quick": True, "method": "good", "height": 0.7}
    assert line["values"]["labels"] == [10, 20, 30]
    assert line["command"] == "askwise reproduce toy"
    assert line.keys() >= {"protocol", "commit", "started", "seconds", "cpu_seconds", "conditions"}
    assert not list((tmp_path / "toy" / ".runs").iterdir())  # what a finished run needs no more is gone


def test_what_is_done_is_not_done_again_and_seeds_go_round(tmp_path):
    run(tmp_path, [0, 1])
    assert toy_paper.CALLS == [("good", 0), ("random", 0), ("good", 1), ("random", 1)]
    toy_paper.CALLS.clear()
    assert run(tmp_path, [0, 1]) == []
    run(tmp_path, [0, 1, 2])
    assert toy_paper.CALLS == [("good", 2), ("random", 2)]


def test_a_half_written_line_is_done_again(tmp_path):
    run(tmp_path, [0])
    path = tmp_path / "toy" / "runs.jsonl"
    path.write_text(path.read_text()[:-30])
    run(tmp_path, [0])
    assert toy_paper.CALLS == [("good", 0), ("random", 0), ("random", 0)]
    assert len(rows(path)) == 2


def test_a_line_of_something_else_is_named(tmp_path):
    path = tmp_path / "toy" / "runs.jsonl"
    path.parent.mkdir()
    path.write_text('{"seed": 0}\n')
    with pytest.raises(CorruptError, match=r"row 1 of .*runs.jsonl is not that of a run; take it out"):
        rows(path)


def test_quick_runs_and_full_ones_do_not_count_for_each_other(tmp_path):
    run(tmp_path, [0])
    assert len(run(tmp_path, [0], quick=False)) == 2
    told = outcome(toy_paper.PAPER, out=tmp_path, draw=False)
    assert [section.title for section in told.sections] == ["1: toy", "1: toy (quick protocol)"]


def test_hours_follow_the_guess_until_a_run_has_said_it(tmp_path):
    paper = toy_paper.PAPER
    entries = paper.entries(quick=True)
    none = results(entries, [], quick=True)
    jobs = missing(entries, [0, 1], none, quick=True)
    assert hours(jobs, none) == 2.0
    run(tmp_path, [0])
    found = results(entries, rows(runs_file(tmp_path, paper)), quick=True)
    assert hours(missing(entries, [0, 1], found, quick=True), found) < 0.1


def test_claims_hold_fail_or_stay_open(tmp_path):
    run(tmp_path, range(5))
    decided = outcome(toy_paper.PAPER, out=tmp_path, draw=False).claims[True]
    assert [one.verdict for one in decided] == [HOLDS, FAILS, OPEN]
    assert decided[0].reasons[0].startswith("good minus random: +0.2")


def test_gains_are_counted_seed_by_seed_from_an_entry_of_its_own(tmp_path):
    run(tmp_path, range(5))
    found = results(
        toy_paper.PAPER.entries(quick=True), rows(runs_file(tmp_path, toy_paper.PAPER)), quick=True
    )

    def told(*gains):
        pair = replace(toy_paper.pair("good", "random"), gains=gains or None)
        return decide([Claim(sentence="Good.", table="1", pairs=[pair])], found)[0]

    assert told().verdict == HOLDS
    assert told("random", "random").verdict == HOLDS
    assert told("random", "random").reasons[0].startswith("good minus random: +0.2")
    assert told("good", "random").verdict == OPEN  # each gains nothing over itself
    assert told("good", "random").reasons[0].startswith("good minus random: +0 ")


def test_claims_of_one_table_are_corrected_with_those_of_all(tmp_path):
    run(tmp_path, range(5))
    wide = replace(toy_paper.pair("good", "random"), baseline=0.0, measure=lambda row: 1.0 + row["seed"])
    claims = [Claim(sentence=f"Claim {n}.", table=n, pairs=[replace(wide, words=n)]) for n in "123"]
    paper = replace(toy_paper.PAPER, claims=lambda _: claims)
    every = outcome(paper, out=tmp_path, draw=False).claims[True]
    alone = outcome(paper, out=tmp_path, draw=False, table="1").claims[True]
    assert alone == every[:1]
    found = results(paper.entries(quick=True), rows(runs_file(tmp_path, paper)), quick=True)
    assert alone != decide(claims[:1], found)  # the control: the correction does matter
    same = [replace(claim, pairs=claims[0].pairs) for claim in claims]  # one comparison behind three claims
    assert decide(same, found)[0].reasons == decide(claims[:1], found)[0].reasons


def test_what_is_counted_needs_no_test():
    pair = Pair(
        ours="ours",
        baseline=2.0,
        measure=lambda row: row["size"],
        expected="higher",
        words="size minus 2",
        counted=True,
    )

    def told(*sizes, counted=True):
        found = {"ours": {seed: {"size": size} for seed, size in enumerate(sizes)}}
        claim = Claim(sentence="Large.", table="1", pairs=[replace(pair, counted=counted)])
        return decide([claim], found)[0]

    assert told(2.5).verdict == HOLDS
    assert told(2.5, 2.5).reasons == ["size minus 2: +0.5 (counted)"]
    assert [told(*sizes).verdict for sizes in [(1.5,), (1.5, 2.5), (2.0,), ()]] == [FAILS, OPEN, OPEN, NONE]
    assert told(2.5, 2.5, counted=False).verdict == OPEN  # the control: two equal samples decide nothing


def test_one_seed_decides_nothing(tmp_path):
    run(tmp_path, [0])
    decided = outcome(toy_paper.PAPER, out=tmp_path, draw=False).claims[True]
    assert {one.verdict for one in decided} == {OPEN}
    assert "one seed, no interval" in decided[0].reasons[0]


def test_a_claim_whose_entries_have_not_run_says_so_beside_others_that_have(tmp_path):
    run(tmp_path, range(5))
    entries = toy_paper.PAPER.entries(quick=True)
    found = {**results(entries, rows(runs_file(tmp_path, toy_paper.PAPER)), quick=True), "random": {}}
    decided = decide(toy_paper.PAPER.claims(True), found)
    assert [one.verdict for one in decided] == [NONE, NONE, OPEN]


def test_markdown_and_page_show_ours_beside_theirs_and_draw_theirs_dashed(tmp_path):
    run(tmp_path, [0, 1])
    told = outcome(toy_paper.PAPER, out=tmp_path)
    paths = write(told, tmp_path / "toy")
    text, page = paths["md"].read_text(), paths["html"].read_text()
    assert "| good | 2 | 30 (30 to 30) | 15 | 80.1" in text
    assert "quick protocol" in text
    assert "> 30" in text  # random never arrives
    assert (tmp_path / "toy" / "toy_quick.png").stat().st_size > 10_000
    assert "data:image/png;base64," in page
    assert "<script" not in page


def test_the_page_on_all_papers_has_a_line_for_each_claim(tmp_path):
    papers = {"toy": toy_paper.PAPER}
    assert "| 1 | Good is better. | no runs yet | no runs yet |" in overview(papers, out=tmp_path)
    run(tmp_path, range(5))
    told = overview(papers, out=tmp_path)
    assert "| 1 | Good is better. | no runs yet | holds |" in told
    assert "| 1 | Random is better. | no runs yet | does not hold |" in told
    assert "10 runs: [results/toy/tables.md]" in told
