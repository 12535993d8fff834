"""Every public name shows one example, and the example does what it shows."""

import doctest
from types import ModuleType

import pytest
import torch

import askwise as aw

NAMES = [
    name
    for name in aw.__all__
    if callable(getattr(aw, name)) and not isinstance(getattr(aw, name), ModuleType)
]


@pytest.fixture(scope="module")
def names():
    """What the examples of the reference begin with, as its first page says."""
    x = torch.randn(60, 4, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] > 0).long()
    network = aw.nets.mlp(4, 2, hidden=(16,), dropout=0.5)
    short = aw.Training(epochs=2)
    fitted = aw.fit(network, (x, y), training=short, seed=0)
    return {"aw": aw, "torch": torch, "x": x, "y": y, "network": network, "short": short, "fitted": fitted}


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_public_name_does_what_it_shows(name, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.DocTestParser().get_doctest(getattr(aw, name).__doc__, dict(names), name, None, None)
    assert found.examples, f"aw.{name} shows no example"
    said = []
    doctest.DocTestRunner(verbose=False).run(found, out=said.append)
    assert said == [], "".join(said)


def test_an_example_that_shows_something_else_is_found():
    found = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    said = []
    doctest.DocTestRunner(verbose=False).run(found, out=said.append)
    assert "Expected:\n    3\nGot:\n    2" in "".join(said)
