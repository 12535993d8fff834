"""Every paper of the table: what it names is there, under the full and the quick protocol alike."""

import json

import pytest

from askwise.papers import PAPERS
from askwise.papers.curves import plan_of
from askwise.runs.rows import canonical, plain

BOTH = [(name, quick) for name in PAPERS for quick in (False, True)]


@pytest.mark.parametrize(("name", "quick"), BOTH)
def test_names_of_entries_tables_and_pictures_are_there_once(name, quick):
    paper = PAPERS[name]
    tables = paper.tables(quick)
    assert len({table.key for table in tables}) == len(tables)
    entries: dict[str, str] = {}
    for table in tables:
        assert len({line.words for line in table.lines}) == len(table.lines)
        for line in table.lines:
            assert len(line.words) == len(table.heads)
            told = canonical(plain(line.entry.settings))
            assert entries.setdefault(line.entry.name, told) == told  # one name, one protocol
            assert line.theirs.keys() <= {column.key for column in table.columns if column.theirs}
        assert {line.baseline for line in table.lines} - {""} <= {line.entry.name for line in table.lines}
        for picture in table.pictures:
            assert set(picture.entries.values()) <= {line.entry.name for line in table.lines}
    pictures = [picture.name for table in tables for picture in table.pictures]
    assert len(set(pictures)) == len(pictures)


@pytest.mark.parametrize(("name", "quick"), BOTH)
def test_claims_compare_entries_of_their_own_table(name, quick):
    paper = PAPERS[name]
    tables = {table.key: {line.entry.name for line in table.lines} for table in paper.tables(quick)}
    for claim in paper.claims(quick):
        assert claim.pairs
        assert claim.sentence.endswith(".")
        for pair in claim.pairs:
            assert pair.ours in tables[claim.table]
            assert not isinstance(pair.baseline, str) or pair.baseline in tables[claim.table]
            assert set(pair.gains or ()) <= tables[claim.table]


@pytest.mark.parametrize(("name", "quick"), BOTH)
def test_protocols_can_be_written_down_and_a_quick_one_says_so(name, quick):
    for table in PAPERS[name].tables(quick):
        assert table.protocol.startswith("Quick protocol") == quick
    for entry in PAPERS[name].entries(quick=quick):
        assert json.loads(canonical(plain(entry.settings)))["quick"] is quick
        assert entry.seconds > 0
        if "plan" in entry.settings:
            assert plan_of(entry.settings, 0).budget == entry.settings["plan"]["budget"]


@pytest.mark.parametrize("name", PAPERS)
def test_what_the_queue_does_in_full_is_in_a_table(name):
    entries = {entry.name for entry in PAPERS[name].entries(quick=False)}
    named = [(entry, seed) for entry, seeds in PAPERS[name].priority for seed in seeds]
    assert {entry for entry, _ in named} <= entries
    assert len(set(named)) == len(named)


@pytest.mark.parametrize("name", PAPERS)
def test_full_and_quick_protocols_have_the_same_tables(name):
    assert [t.key for t in PAPERS[name].tables(True)] == [t.key for t in PAPERS[name].tables(False)]
