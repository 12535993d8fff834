"""Every public name shows one example, and the example does what it shows."""

import doctest
import inspect

import pytest
import torch

import askwise as aw
from website import api

PLACES = {f"aw.{name}": path for name, path in api.names().items()} | {
    f"{room}.{name}": path for room, home in api.rooms().items() for name, path in api.names_of(home).items()
}
MADE_BY = {
    "assess.Annotators": "assess.dawid_skene",
    "assess.Band": "assess.band",
    "assess.CannotCertify": "assess.certify",
    "assess.Certificate": "assess.certify",
    "assess.Estimate": "assess.prevalence",
    "assess.Forecast": "assess.forecast",
    "assess.Misses": "assess.misses",
    "assess.Open": "assess.certify",
    "assess.Recalls": "assess.recalls",
    "assess.Suspects": "assess.suspects",
    "data.Dataset": "data.load",
    "data.Part": "data.load",
    "data.Table": "data.uci",
    "encoders.Encoder": "encoders.load",
    "encoders.Record": "encoders.known",
    "encoders.SentenceEncoder": "encoders.load",
    "engine.Engine": "engine.open_engine",
    "engine.ShardResult": "engine.remembered",
    "engine.Work": "engine.remembered",
    "nets.Recipe": "nets.build",
    "oracle.Oracle": "oracle.open_oracle",
    "oracle.Question": "oracle.File",
    "pool.Ahead": "pool.encode_ahead",
    "pool.Axes": "pool.fit_axes",
    "pool.Coding": "pool.coding_of",
    "pool.Duplicates": "pool.duplicates",
    "pool.Item": "pool.Pool",
    "pool.Reading": "pool.Pool",
    "pool.Stretch": "pool.stretch_of",
    "tasks.Meter": "tasks.classification",
    "tasks.Prediction": "aw.predict",
    "tasks.ScaleWarning": "tasks.regression",
    "tasks.Task": "tasks.named",
}
"""Records, contracts and a warning, which nobody makes by hand: the example is that of their maker."""
ELSEWHERE = {"data.fetch", "data.uci"}
"""Their examples want files from elsewhere, and are not run."""
CALLED = {
    name: found
    for name, path in PLACES.items()
    if inspect.isclass(found := api._object(path)) or inspect.isfunction(found)
}


@pytest.fixture(scope="module")
def names():
    """What the examples of the reference begin with, as its first page says."""
    x = torch.randn(60, 4, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] > 0).long()
    network = aw.nets.mlp(4, 2, hidden=(16,), dropout=0.5)
    short = aw.Training(epochs=2)
    fitted = aw.fit(network, (x, y), training=short, seed=0)
    return {"aw": aw, "torch": torch, "x": x, "y": y, "network": network, "short": short, "fitted": fitted}


def examples(name, names):
    return doctest.DocTestParser().get_doctest(CALLED[name].__doc__, dict(names), name, None, None)


@pytest.mark.parametrize("name", sorted(CALLED.keys() - MADE_BY.keys()))
def test_the_example_of_a_public_name_does_what_it_shows(name, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = examples(name, names)
    assert found.examples, f"{name} shows no example"
    assert any(doctest.SKIP in one.options for one in found.examples) == (name in ELSEWHERE)
    said = []
    doctest.DocTestRunner(verbose=False).run(found, out=said.append)
    assert said == [], "".join(said)


def test_what_nobody_makes_by_hand_is_made_by_a_name_with_an_example(names):
    assert MADE_BY.keys() <= CALLED.keys()
    assert all(examples(maker, names).examples for maker in MADE_BY.values())
    assert not any(examples(made, names).examples for made in MADE_BY)


def test_an_example_that_shows_something_else_is_found():
    found = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    said = []
    doctest.DocTestRunner(verbose=False).run(found, out=said.append)
    assert "Expected:\n    3\nGot:\n    2" in "".join(said)
