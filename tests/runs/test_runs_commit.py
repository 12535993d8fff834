import re

from askwise.runs import journal as module
from askwise.runs.journal import commit


def test_a_checkout_names_its_commit_and_an_installed_package_none(monkeypatch, tmp_path) -> None:
    found = commit()
    assert found is None or re.search(r"[0-9a-f]{40}(-dirty)?$", found)
    monkeypatch.setattr(module, "__file__", str(tmp_path / "a" / "b" / "c" / "commit.py"))
    assert commit() is None
