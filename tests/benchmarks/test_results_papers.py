"""The papers in the queue: their rows are those of `askwise reproduce`, and nobody takes them away."""

from dataclasses import replace
from pathlib import Path

import papers
import pytest
import toy_paper
from jobs.experiment import Experiment
from jobs.ledger import Home, Ledger
from jobs.queue import Queue

import results
from askwise.papers import PAPERS, do, missing, rows, runs_file
from askwise.papers import results as found_in

TOY = replace(toy_paper.PAPER, priority=[("good", range(2)), ("random", range(1))])


def work(experiments: list[Experiment], home: Home) -> Queue:
    queue = Queue(experiments, home, run="one", stop=lambda: False)
    queue.work()
    return queue


def test_every_paper_is_in_the_queue_quick_before_full() -> None:
    named = [experiment.name for experiment in results.EXPERIMENTS if experiment.file]
    assert sorted(papers.ORDER) == sorted(PAPERS)
    assert named == [*(f"{name}_quick" for name in papers.ORDER), *papers.ORDER]


@pytest.mark.parametrize("name", PAPERS)
def test_quick_jobs_are_every_row_and_full_ones_the_priority(name: str) -> None:
    quick, full = (papers.experiment(PAPERS[name], quick=quick) for quick in (True, False))
    assert {key["entry"] for key in quick.jobs} == {one.name for one in PAPERS[name].entries(quick=True)}
    assert len(full.jobs) == sum(len(seeds) for _, seeds in PAPERS[name].priority)


def test_the_queue_and_the_command_do_not_repeat_each_other(tmp_path: Path) -> None:
    home = Home(tmp_path / "results", tmp_path / "scratch")
    entries = TOY.entries(quick=True)
    jobs = missing(entries[:1], [0], found_in(entries, [], quick=True), quick=True)
    do(TOY, jobs, out=home.results, data_dir=None, command="askwise reproduce toy --quick")
    toy_paper.CALLS.clear()
    queue = work([papers.experiment(TOY, quick=quick) for quick in (True, False)], home)
    assert not queue.failed
    assert [
        *[("random", 0), ("good", 1), ("random", 1)],  # quick: good, seed 0 was there
        *[("good", 0), ("good", 1), ("random", 0)],  # in full: the priority
    ] == toy_paper.CALLS
    done = rows(runs_file(home.results, TOY))
    again = missing(entries, [0, 1], found_in(entries, done, quick=True), quick=True)
    assert again == []
    text = (home.results / "toy" / "tables.md").read_text()
    assert "make results ONLY=toy_quick" in text
    assert "askwise reproduce toy --quick" in text


def test_keeping_current_rows_leaves_those_of_the_other_protocol(tmp_path: Path) -> None:
    home = Home(tmp_path / "results", tmp_path / "scratch")
    experiments = [papers.experiment(TOY, quick=quick) for quick in (True, False)]
    work(experiments, home)
    changed = replace(experiments[0], settings=lambda key: {**experiments[0].settings(key), "new": 1})
    assert Ledger(changed, home).keep_current() == 4  # the four quick rows
    assert {row.key["quick"] for row in rows(runs_file(home.results, TOY))} == {False}
