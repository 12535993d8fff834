"""A page for each test: the project is made once, and copied."""

import shutil

import pytest
from small_page import Page, write_project

from askwise.project import Project


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return write_project(tmp_path_factory.mktemp("page"))


@pytest.fixture
def project(made, tmp_path):
    shutil.copytree(made.folder, tmp_path / "project")
    return Project(tmp_path / "project")


@pytest.fixture
def page(project):
    page = Page(project)
    with page.client:
        yield page
