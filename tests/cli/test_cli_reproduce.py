import json

import pytest
import toy_paper

from askwise import papers


@pytest.fixture(autouse=True)
def _with_the_toy(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", {**papers.PAPERS, "toy": toy_paper.PAPER})


def test_nothing_runs_unless_it_is_asked_for(askwise, tmp_path):
    toy_paper.CALLS.clear()
    code, out, _ = askwise("reproduce", "toy", "--out", tmp_path)
    assert code == 0
    assert toy_paper.CALLS == []
    assert "no runs of toy are here yet" in out
    assert "4 quick runs are left, about 2.0 hours on one core: askwise reproduce toy --quick" in out
    assert "askwise reproduce toy --seeds 0-2" in out


def test_quick_says_the_hours_first_then_prints_and_writes_the_tables(askwise, tmp_path):
    code, out, err = askwise("reproduce", "toy", "--quick", "--seeds", "0-2", "--out", tmp_path)
    assert code == 0
    assert err.splitlines()[0].startswith("6 quick runs, about 3.0 hours on one core; Ctrl-C stops them")
    assert "1: toy (quick protocol)" in out
    assert "holds: Good is better." in out
    assert "does not hold: Random is better." in out
    names = {path.name for path in (tmp_path / "toy").iterdir()}
    assert names >= {"runs.jsonl", "tables.md", "tables.html", "toy_quick.png"}
    code, out, err = askwise("reproduce", "toy", "--out", tmp_path, "--json")
    told = json.loads(out)
    assert (code, told["paper"], told["tables"][0]["quick"]) == (0, "toy", True)
    assert told["claims"][0]["verdict"] == "holds"


def test_all_papers_are_listed_without_a_name(askwise, tmp_path):
    code, out, _ = askwise("reproduce", "--out", tmp_path)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(papers.PAPERS)


BAD = {
    "an unknown paper": (["gal2071"], "unknown paper 'gal2071'; did you mean 'gal2017'?"),
    "an unknown table": (["gal2017", "--table", "z"], "unknown table of gal2017 'z'; choose one of: a, b"),
    "data that are not here": (
        ["gal2017", "--table", "a", "--seeds", "0", "--data", "{tmp}"],
        "mnist is not here; fetch it with: askwise data fetch mnist",
    ),
    "bad seeds": (["gal2017", "--seeds", "4-0"], "run backwards"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_line(askwise, tmp_path, name):
    words, expected = BAD[name]
    words = [word.replace("{tmp}", str(tmp_path)) for word in words]
    code, _, err = askwise("reproduce", *words, "--out", tmp_path)
    assert code == 2
    last = err.splitlines()[-1]
    assert last.startswith("askwise: ")
    assert expected in last


def test_a_damaged_file_of_runs_is_named(askwise, tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "runs.jsonl").write_text('{"half\n{"seed": 1}\n')
    code, _, err = askwise("reproduce", "toy", "--out", tmp_path)
    assert code == 2
    assert "line 1 of" in err
    assert "is damaged; take it out, or restore it" in err
