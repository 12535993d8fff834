"""Every plan of examples/plans runs to its end, small: on a few invented items of the same kind."""

from pathlib import Path

import pytest
import torch

from askwise.data.dataset import Dataset
from askwise.encoders import TEXTS, Encoder, Record
from askwise.nets import build
from askwise.runs import material
from askwise.runs.one import Run, run_one
from askwise.store import open_store
from askwise.store.facts import Round
from askwise.tasks import named

PLANS = sorted((Path(__file__).parent.parent / "examples" / "plans").glob("*.toml"))
SMALL = ["initial=8", "batch=4", "budget=12", "draws=3", "training.epochs=2", "test=10"]
RNG = torch.Generator().manual_seed(0)


def invented(name, **_):
    """Thirty items like those of a data set, and ten to test on."""
    task, count = material.task_of(name)["name"], 30
    names = material.STORED[name].classes if name in material.STORED else tuple("0123456789")
    ids = tuple(f"item-{number:02d}" for number in range(count)), tuple(f"test-{n}" for n in range(10))
    if task == "multilabel":
        x = [f"word{number} word{number % 7}" for number in range(40)]
        y = (torch.rand(40, len(names), generator=RNG) < 0.2).float()
    elif task == "regression":
        x = torch.randn(40, 8, generator=RNG)
        y = 100 + 30 * x[:, :1]
    elif task == "segmentation":
        x = torch.rand(40, 3, 16, 16, generator=RNG)
        y = torch.randint(0, len(names) + 1, (40, 16, 16), generator=RNG)  # the last is ignored
    else:
        x = torch.rand(40, 1, 8, 8, generator=RNG)
        y = torch.arange(40) % 10
    parts = (x[:count], y[:count], ids[0], x[count:], y[count:], ids[1])
    return Dataset(name, names, *parts, task=task, ignore=material.task_of(name).get("ignore"))


def tiny_encoder(*_, **__):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = build("tiny_encoder", vocabulary=60, width=6).requires_grad_(False)
    return Encoder(Record("tiny", TEXTS, 8, 6, "none", 0, "", None), module, longest=8)


@pytest.fixture(autouse=True)
def _small_data(monkeypatch):
    monkeypatch.setattr(material, "load", invented)
    monkeypatch.setattr(material.encoders, "load", tiny_encoder)


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_plan_runs_and_measures_what_its_task_measures(path, tmp_path):
    plan = material.read_plan(path, overrides=SMALL)
    run = Run(plan, material.material(plan), tmp_path / "run.db", path.parent)
    ended = run_one(run, source="simulated")
    assert ended.stopped == "the budget of 12 labels is spent"
    store = open_store(tmp_path / "run.db", access="read")
    last = store.facts(Round)[-1].metrics["test"]
    store.close()
    assert set(named(plan.task).measures) <= set(last)


def test_there_is_a_plan_for_each_task():
    tasks = {material.read_plan(path).kind for path in PLANS}
    assert tasks == {"classification", "multilabel", "regression", "segmentation"}


def test_what_the_catalogue_says_of_a_data_set_is_what_its_loader_gives():
    from askwise.data.catalogue import load

    assert material.task_of("digits") == {"name": load("digits").task}
    assert material.task_of("uci/yacht") == {"name": "regression"}
