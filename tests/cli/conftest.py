"""Two finished runs of a tiny plan, made once for all tests of the commands."""

import pytest
from tiny_plan import write_plan

from askwise.cli import call


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The plan whose runs with seeds 0 and 1 are finished."""
    plan = write_plan(tmp_path_factory.mktemp("runs"))
    assert call(["run", str(plan), "--oracle", "simulated", "--seeds", "0-1"]) == 0
    return plan


@pytest.fixture
def askwise(capsys):
    """Call a command: its exit code, standard output and standard error."""

    def command(*arguments):
        code = call([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command
