import sys

import pytest

from askwise.data import commands


def test_what_a_program_prints_goes_where_it_should(tmp_path):
    commands.run([sys.executable, "-c", "print('hello')"], folder=tmp_path, output=tmp_path / "out")
    assert (tmp_path / "out").read_text().strip() == "hello"


def test_it_runs_in_the_folder(tmp_path):
    commands.run([sys.executable, "-c", "open('made', 'w').close()"], folder=tmp_path)
    assert (tmp_path / "made").is_file()


def test_a_missing_program_is_named(tmp_path):
    with pytest.raises(commands.ToolError, match="no-such-tool is not installed"):
        commands.run(["no-such-tool"], folder=tmp_path)


def test_a_failure_repeats_the_last_line_the_program_said(tmp_path):
    program = "import sys; sys.exit('first line\\nno such package')"
    with pytest.raises(commands.ToolError, match=r"failed with code 1: no such package$"):
        commands.run([sys.executable, "-c", program], folder=tmp_path)


def test_an_apt_without_lists_is_told_to_update(tmp_path):
    program = "import sys; sys.exit('E: Unable to locate package x')"
    with pytest.raises(commands.ToolError, match="apt-get update makes it known"):
        commands.run([sys.executable, "-c", program], folder=tmp_path)


def test_a_program_that_hangs_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "_SECONDS", 0.2)
    with pytest.raises(commands.ToolError, match=r"was not done after 0\.2 seconds"):
        commands.run([sys.executable, "-c", "import time; time.sleep(30)"], folder=tmp_path)
