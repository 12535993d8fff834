"""The queue of results: stopped anywhere it goes on, and no job is done twice."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from jobs.command import main
from jobs.ledger import Ledger
from jobs.queue import Queue, listing
from toy_queue import PATIENCE, experiments, home

from askwise.errors import InputError

TOY = Path(__file__).parent / "toy_queue.py"
SQUARES = "".join(f"{n}: {n**2}\n" for n in range(8))


def starts(folder: Path) -> list[str]:
    path = folder / "starts"
    return [" ".join(line.split()[:2]) for line in path.read_text().splitlines()] if path.exists() else []


def lines(folder: Path, name: str = "squares") -> list[dict]:
    return [json.loads(line) for line in (folder / "results" / f"{name}.jsonl").read_text().splitlines()]


def go(folder: Path, *options: str, **changes) -> int:
    return main(experiments(folder, **changes), home(folder), options)


def another(folder: Path) -> BaseProcess:
    """The queue in a process of its own, forked: a new one takes seconds to import torch."""

    def work() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # also where pytest runs in the background
        sys.exit(go(folder))

    process = get_context("fork").Process(target=work)
    process.start()
    return process


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def ended(process: BaseProcess) -> int:
    process.join(PATIENCE)
    assert process.exitcode is not None, "it does not end"
    return process.exitcode


def test_jobs_are_done_in_order_of_priority_and_tables_are_written(tmp_path, capsys) -> None:
    assert go(tmp_path) == 0
    assert starts(tmp_path) == [f"squares {n}" for n in range(8)] + ["cubes 0", "cubes 1"]
    assert (tmp_path / "results" / "squares.md").read_text() == SQUARES
    assert (tmp_path / "results" / "cubes.md").read_text() == "0: 0\n1: 1\n"
    assert "squares number=0: " in capsys.readouterr().out


def test_a_row_says_what_was_done_when_where_and_by_which_code(tmp_path) -> None:
    go(tmp_path, "--only", "cubes")
    row = lines(tmp_path, "cubes")[1]
    assert (row["key"], row["values"]["value"]) == ({"number": 1}, 1)
    assert row["settings"] == {"power": 3, "scale": 1}
    assert row["command"] == "make results ONLY=cubes"
    assert len(row["commit"].removesuffix("-dirty")) == 40
    assert row["conditions"]["threads"] == 1
    assert {"torch", "python", "load"} <= row["conditions"].keys()
    assert row["seconds"] >= 0
    assert row["started"][:2] == "20"


def test_what_is_done_is_not_done_again(tmp_path) -> None:
    go(tmp_path)
    before = (tmp_path / "results" / "squares.jsonl").read_bytes()
    assert go(tmp_path) == 0
    assert len(starts(tmp_path)) == 10
    assert (tmp_path / "results" / "squares.jsonl").read_bytes() == before


def test_only_some_experiments(tmp_path) -> None:
    assert go(tmp_path, "--only", "cubes") == 0
    assert starts(tmp_path) == ["cubes 0", "cubes 1"]
    with pytest.raises(SystemExit):
        go(tmp_path, "--only", "cube")


def test_only_some_jobs(tmp_path, capsys) -> None:
    assert go(tmp_path, "--only", "squares", "--where", "number=6|[12]") == 0
    assert starts(tmp_path) == ["squares 1", "squares 2", "squares 6"]
    assert go(tmp_path, "--only", "squares") == 0  # the others are still to be done, and these are not lost
    assert len(starts(tmp_path)) == 8
    assert (tmp_path / "results" / "squares.md").read_text() == SQUARES
    for wrong in ("number=9", "size=2", "number"):
        with pytest.raises(SystemExit):
            go(tmp_path, "--where", wrong)
    assert "unknown number '9'; choose one of: 0, 1" in capsys.readouterr().err


def test_a_row_of_another_protocol_does_not_count(tmp_path) -> None:
    go(tmp_path, "--only", "cubes")
    assert go(tmp_path, "--only", "cubes", scale=10) == 0
    assert len(starts(tmp_path)) == 4
    assert (tmp_path / "results" / "cubes.md").read_text() == "0: 0\n1: 10\n"
    assert go(tmp_path, "--only", "cubes") == 0  # the first protocol's rows are still there
    assert len(starts(tmp_path)) == 4
    assert len(lines(tmp_path, "cubes")) == 4


def test_rows_of_replaced_protocols_are_taken_out_only_when_asked_and_replaced(tmp_path) -> None:
    go(tmp_path, "--only", "cubes")
    assert go(tmp_path, "--keep-current", scale=10) == 0  # nothing has replaced them yet
    assert len(lines(tmp_path, "cubes")) == 2
    go(tmp_path, "--only", "cubes", scale=10)
    go(tmp_path, "--keep-current", scale=10)
    assert [row["values"]["value"] for row in lines(tmp_path, "cubes")] == [0, 10]


def test_rows_of_an_older_form_are_no_rows(tmp_path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "cubes.jsonl").write_text('{"number": 0, "value": 5}\n')
    go(tmp_path, "--only", "cubes")
    assert (tmp_path / "results" / "cubes.md").read_text() == "0: 0\n1: 1\n"


@pytest.mark.parametrize("cut", [1, 40])
def test_a_half_written_last_line_is_dropped_and_its_job_done_again(tmp_path, cut) -> None:
    go(tmp_path, "--only", "cubes")
    path = tmp_path / "results" / "cubes.jsonl"
    path.write_bytes(path.read_bytes()[: -cut - 1])
    assert go(tmp_path, "--only", "cubes") == 0
    assert starts(tmp_path) == ["cubes 0", "cubes 1", "cubes 1"]
    assert [row["key"]["number"] for row in lines(tmp_path, "cubes")] == [0, 1]


def test_a_failed_job_is_told_and_the_queue_goes_on(tmp_path, capsys) -> None:
    (tmp_path / "broken").write_text("3")
    assert go(tmp_path) == 1
    told = capsys.readouterr().err
    assert "FAILED squares number=3" in told
    assert "ZeroDivisionError: a broken job" in told
    assert len(starts(tmp_path)) == 10
    assert (tmp_path / "results" / "squares.md").read_text() == SQUARES.replace("3: 9\n", "")
    (tmp_path / "broken").unlink()
    assert go(tmp_path) == 0
    assert starts(tmp_path)[10:] == ["squares 3"]
    assert (tmp_path / "results" / "squares.md").read_text() == SQUARES


def test_values_that_json_cannot_hold_fail_and_leave_no_row(tmp_path) -> None:
    cubes = experiments(tmp_path)[1]
    object.__setattr__(cubes, "run", lambda key, scratch: {"value": math.nan})
    assert main([cubes], home(tmp_path), []) == 1
    assert not (tmp_path / "results" / "cubes.jsonl").exists()


def test_an_experiment_without_its_data_is_left_out_as_a_whole(tmp_path, capsys) -> None:
    def missing() -> None:
        raise InputError("there is no mnist; fetch it")

    first, second = experiments(tmp_path)
    object.__setattr__(first, "ready", missing)
    assert main([first, second], home(tmp_path), []) == 1
    assert starts(tmp_path) == ["cubes 0", "cubes 1"]
    assert capsys.readouterr().err == "FAILED squares is left out: there is no mnist; fetch it\n"


def test_tables_that_fail_do_not_stop_the_queue(tmp_path, capsys) -> None:
    first, second = experiments(tmp_path)
    object.__setattr__(first, "tables", lambda rows, results: 1 / 0)
    assert main([first, second], home(tmp_path), []) == 1
    assert "squares: its tables" in capsys.readouterr().err
    assert (tmp_path / "results" / "cubes.md").exists()


def test_tables_alone_do_no_job(tmp_path) -> None:
    go(tmp_path, "--only", "cubes")
    (tmp_path / "results" / "cubes.md").unlink()
    assert go(tmp_path, "--tables") == 0
    assert (tmp_path / "results" / "cubes.md").read_text() == "0: 0\n1: 1\n"
    assert not (tmp_path / "results" / "squares.md").exists()  # without rows there is nothing to say
    assert len(starts(tmp_path)) == 2


def test_the_list_says_what_is_done_and_what_the_rest_may_take(tmp_path) -> None:
    go(tmp_path, "--only", "cubes")
    ledgers = [Ledger(one, home(tmp_path)) for one in experiments(tmp_path)]
    _, squares, cubes, total = listing(ledgers)
    assert squares.split()[:5] == ["squares", "0", "8", "~36", "0.08"]
    assert cubes.split()[:3] == ["cubes", "2", "2"]
    assert cubes.split()[4] == "0.00"
    assert total.split()[-1] == "0.08"


def test_the_same_job_twice_is_refused(tmp_path) -> None:
    first = experiments(tmp_path)[0]
    object.__setattr__(first, "jobs", [{"number": 1}, {"number": 1}])
    with pytest.raises(ValueError, match="the same job twice"):
        Ledger(first, home(tmp_path))


def test_changed_code_stops_the_queue(tmp_path, monkeypatch, capsys) -> None:
    seen = iter(["one", "one", "one", "two"])
    monkeypatch.setattr("jobs.queue.code", lambda: next(seen))
    queue = Queue(experiments(tmp_path), home(tmp_path), run="run", stop=lambda: False)
    queue.work()
    assert len(starts(tmp_path)) == 2
    assert "the code has changed" in capsys.readouterr().err


def test_a_claimed_job_is_left_to_the_other_process(tmp_path) -> None:
    ledger, other = (Ledger(experiments(tmp_path)[1], home(tmp_path)) for _ in range(2))
    with ledger.claim({"number": 0}, run="a") as first:
        assert first is not None
        with other.claim({"number": 0}, run="b") as second, other.claim({"number": 1}, run="b") as third:
            assert second is None
            assert third is not None
    with other.claim({"number": 0}, run="b") as free:  # control: given back without a row
        assert free is not None


def test_killed_in_a_job_it_goes_on_where_it_was(tmp_path) -> None:
    (tmp_path / "slow").touch()
    process = another(tmp_path)
    until(lambda: starts(tmp_path) == ["squares 0"])
    process.kill()
    assert ended(process) == -signal.SIGKILL
    (tmp_path / "slow").unlink()
    assert go(tmp_path, "--only", "squares") == 0
    assert starts(tmp_path) == ["squares 0", *(f"squares {n}" for n in range(8))]
    first, *others = lines(tmp_path)
    if not first["commit"].endswith("-dirty"):  # half-done work of changed code is thrown away
        assert first["values"]["resumed"]
    assert not any(row["values"]["resumed"] for row in others)
    assert not [path for path in (tmp_path / "scratch" / "squares").iterdir() if path.is_dir()]


def test_stopped_by_ctrl_c_it_says_how_to_go_on(tmp_path, capfd) -> None:
    (tmp_path / "slow").touch()
    process = another(tmp_path)
    until(lambda: starts(tmp_path) == ["squares 0"])
    os.kill(process.pid, signal.SIGINT)
    assert ended(process) == 130
    told = capfd.readouterr().err
    assert "the same command goes on" in told
    assert "FAILED" not in told


def test_two_terminals_do_every_job_once(tmp_path) -> None:
    (tmp_path / "slow").touch()
    both = [another(tmp_path), another(tmp_path)]
    until(lambda: len(starts(tmp_path)) == 2)
    (tmp_path / "slow").unlink()
    assert [ended(one) for one in both] == [0, 0]
    assert sorted(starts(tmp_path)) == sorted([*(f"squares {n}" for n in range(8)), "cubes 0", "cubes 1"])
    assert (tmp_path / "results" / "squares.md").read_text() == SQUARES
    workers = {line.split()[2] for line in (tmp_path / "starts").read_text().splitlines()}
    assert len(workers) == 2


@pytest.mark.slow
def test_two_processes_of_one_run_try_a_broken_job_once(tmp_path) -> None:
    (tmp_path / "slow").touch()
    (tmp_path / "broken").write_text("0")
    command = [sys.executable, str(TOY), "--jobs", "2"]
    environment = {**os.environ, "TOY": str(tmp_path)}
    with subprocess.Popen(command, env=environment, text=True, stderr=subprocess.PIPE) as process:
        until(lambda: len(starts(tmp_path)) == 2)
        (tmp_path / "slow").unlink()
        told = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 1
    assert told.count("FAILED") == 1
    assert starts(tmp_path).count("squares 0") == 1
    assert len(lines(tmp_path)) == 7


def test_a_job_that_failed_in_this_run_is_left_to_a_later_one(tmp_path) -> None:
    ledger, other = (Ledger(experiments(tmp_path)[1], home(tmp_path)) for _ in range(2))
    with ledger.claim({"number": 0}, run="a") as first:
        first.failed()
    with other.claim({"number": 0}, run="a") as same:
        assert same is None
    with other.claim({"number": 0}, run="b") as later:
        assert later is not None


def test_a_process_whose_parent_is_gone_starts_no_other_job(tmp_path) -> None:
    assert go(tmp_path, "--part-of", f"run:{os.getpid()}") == 0  # nobody is their own parent
    assert starts(tmp_path) == []
    assert go(tmp_path, "--part-of", f"run:{os.getppid()}", "--only", "cubes") == 0  # control
    assert len(starts(tmp_path)) == 2
