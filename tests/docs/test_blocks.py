"""Every code block and every command of the documentation is run, or says why not."""

import re

import pytest
from blocks import ROOT, Block, blocks, knows, pages, parsed, run
from given import quick

PAGES = pages()


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run_as_they_stand(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("askwise.encoders.default", quick)
    names = {"__name__": "__main__"}
    printed = ""
    for block in blocks(page):
        run(block, names, printed)
        captured = capsys.readouterr()
        printed += captured.out + captured.err
    if (learner := names.get("learner")) is not None:
        learner.close()


@pytest.mark.parametrize("page", [str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").rglob("*.md"))])
def test_commands_in_sentences_exist_with_their_options(page):
    text = (ROOT / page).read_text("utf-8")
    for said in re.findall(r"`askwise ([a-z][^`\n]*)`", text):
        knows(["askwise", *said.split()], page)


def test_a_block_that_nothing_runs_is_refused_unless_it_says_why():
    with pytest.raises(AssertionError, match="nothing runs 'rust'"):
        run(next(parsed("x.md", "```rust\nfn main() {}\n```\n")), {}, "")
    with pytest.raises(AssertionError, match="only askwise is run"):
        run(next(parsed("x.md", "```console\nmake tea\n```\n")), {}, "")
    run(next(parsed("x.md", "<!-- not run: needs water -->\n```console\nmake tea\n```\n")), {}, "")


def test_a_mark_belongs_to_the_block_below_it_alone():
    found = list(parsed("x.md", "<!-- not run: a -->\nwords\n```python\n1 / 0\n```\n"))
    assert found == [Block("x.md", 4, "python", "1 / 0\n", {})]
    with pytest.raises(ZeroDivisionError):
        run(found[0], {}, "")


def test_output_that_was_not_printed_is_refused():
    block = next(parsed("x.md", "```text\n3 ... labels\n```\n"))
    run(block, {}, "asked\n3 new labels\n")
    with pytest.raises(AssertionError, match="not printed"):
        run(block, {}, "4 new labels\n")


def test_a_command_or_option_that_is_not_there_is_refused():
    knows(["askwise", "run", "pets", "--oracle", "labels.csv"], "x.md")
    with pytest.raises(AssertionError, match="no command"):
        knows(["askwise", "lable", "pets"], "x.md")
    with pytest.raises(AssertionError, match="no such option"):
        knows(["askwise", "run", "pets", "--orakel", "labels.csv"], "x.md")
