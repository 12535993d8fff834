"""Shapes in signatures are checked while the tests run; what a test draws does not depend on its company."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two test processes on two cores

import pytest
import torch
from jaxtyping import install_import_hook

install_import_hook("askwise", "beartype.beartype").__enter__()


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup() -> None:
    """Networks made in a fixture begin with the same weights, whichever tests ran before."""
    torch.manual_seed(0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """So do those made in a test."""
    torch.manual_seed(0)
