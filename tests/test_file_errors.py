"""Files that cannot be read or written are refused in one line that names them as they were given."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import askwise as aw
from askwise import files
from askwise.errors import AskwiseError, InputError, PathError

SHORT = aw.Training(epochs=1)


@pytest.fixture(scope="module")
def fitted():
    x = torch.randn(8, 4)
    return aw.fit(nn.Linear(4, 2), (x, x[:, 0] > 0), posterior="point", training=SHORT)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("no folder")
    Path("folder").mkdir()
    return tmp_path


def learner():
    x = np.eye(6, 4, dtype=np.float32)
    run = aw.Learner(nn.Linear(4, 2), pool=x, classes=2, batch=2, budget=2, training=SHORT)
    run.run(oracle=lambda question: question.row % 2)
    return run


@pytest.mark.parametrize(
    "path", ["file/x", "folder", "closed/x"], ids=["below a file", "onto a folder", "without permission"]
)
def test_what_cannot_be_written_is_refused_before_the_work(here, fitted, path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place).name != "closed")
    onnx, page, table = (f"{path}{end}" if path != "folder" else path for end in (".onnx", ".html", ".csv"))
    monkeypatch.setattr("askwise.export.onnx._written", lambda *_: pytest.fail("the work has begun"))
    monkeypatch.setattr("askwise.report.assemble.assemble", lambda *_, **__: pytest.fail("it has begun"))
    run = learner()
    for name, write in (
        (onnx, lambda: aw.export_onnx(fitted, onnx)),
        (page, lambda: aw.write_report(run, page)),
    ):
        with pytest.raises(PathError, match=f"^{name} cannot be written: [^\n]*$"):
            write()
    with pytest.raises(PathError, match=f"^{table} cannot be written: "):
        files.target(table)
    assert not list(here.rglob("*.part"))


def test_a_model_that_cannot_be_saved_is_refused_by_the_folder_that_was_given(here, fitted, monkeypatch):
    with pytest.raises(AskwiseError, match=r"^file/m cannot be written: Not a directory$"):
        fitted.save("file/m")
    fitted.save("model")
    real = Path.replace

    def full(path, to):
        if Path(to).name == "model.json":
            raise OSError(28, "No space left on device")
        return real(path, to)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(PathError, match=r"^model cannot be written: No space left on device$"):
        fitted.save("model")
    assert not list(Path("model").glob("*.part"))


@pytest.mark.parametrize("name", ["secret.csv", "secret.jsonl", "secret.json"])
def test_what_cannot_be_read_is_refused_by_its_name(here, name, monkeypatch):
    Path(name).write_text("id,label\n0,a\n")

    for way in ("open", "read_bytes"):
        real = getattr(Path, way)

        def closed(path, *given, real=real, **options):
            if path.name == name:
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *given, **options)

        monkeypatch.setattr(Path, way, closed)
    with pytest.raises(PathError, match=f"^{name} cannot be read: Permission denied$"):
        learner().run(oracle=name)
    if not name.endswith(".json"):
        with pytest.raises(PathError, match=f"^{name} cannot be read: Permission denied$"):
            aw.pool.table(name)


def test_such_an_error_travels_between_processes_and_is_an_error_of_the_system_too():
    error = PathError("x cannot be read: Permission denied", "Permission denied")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(again), again.reason) == (str(error), "Permission denied")
    assert isinstance(error, OSError)


@pytest.mark.parametrize("initial", [2, {"per_class": 1, "labels": {}}])
def test_a_store_is_a_path_or_a_store(initial):
    with pytest.raises(InputError, match="a store is a path, an address or a Store, not int"):
        aw.Learner(nn.Linear(4, 2), pool=np.eye(6, 4, dtype=np.float32), classes=2, initial=initial, store=5)
