"""What the commands of the tests work on."""

import pytest
from small_project import make_project


@pytest.fixture
def made(askwise, tmp_path, monkeypatch):
    """A folder with a project of twelve rows, all of them labelled by their sign."""
    monkeypatch.chdir(tmp_path)
    return make_project(askwise, tmp_path)
