import numpy as np
import pytest
import torch
from PIL import Image
from tiny_plan import write_plan

from askwise.data import Dataset
from askwise.errors import InputError
from askwise.loop.plan import make
from askwise.oracle import Simulated
from askwise.runs import build, material


def test_the_classes_of_a_named_data_set_need_not_be_written(tmp_path):
    assert material.read_plan(write_plan(tmp_path)).classes == tuple("0123456789")
    own = write_plan(tmp_path, 'classes = ["a", "b"]\n')
    assert material.read_plan(own).classes == ("a", "b")


@pytest.mark.parametrize(
    ("name", "shape", "outputs"),
    [("mlp", (5,), 3), ("mlp", (1, 8, 8), 3), ("digits_cnn", (1, 8, 8), 3), ("gal_cnn", (3, 28, 28), 3)],
)
def test_a_network_is_made_to_fit_items_and_classes(name, shape, outputs):
    plan = make({"classes": 3, "network": name})
    network = build.network(plan, torch.zeros(shape)).eval()
    assert network(torch.zeros(2, *shape)).shape == (2, outputs)


def test_a_network_for_squares_refuses_other_shapes():
    plan = make({"classes": 3, "network": "gal_cnn"})
    with pytest.raises(InputError, match="square pictures"):
        build.network(plan, torch.zeros(1, 28, 30))


def test_a_plan_without_data_or_network_says_so():
    with pytest.raises(InputError, match="names no data"):
        material.material(make({"classes": 3}))
    with pytest.raises(InputError, match="names no network"):
        build.network(make({"classes": 3}), torch.zeros(4))


def test_folders_of_pictures_and_npy_files_are_pools_without_labels(tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    np.save(tmp_path / "x.npy", np.zeros((3, 4), dtype=np.float32))
    for data, count in ((tmp_path, 1), (tmp_path / "x.npy", 3)):
        plan = make({"classes": 2, "data": str(data)})
        known = material.material(plan)
        assert (len(known.pool), known.labels, known.test) == (count, {}, None)
        with pytest.raises(InputError, match="no labels to simulate"):
            build.oracle("simulated", plan, known)


def test_what_is_no_data_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match="no folder of pictures"):
        material.material(make({"classes": 2, "data": str(tmp_path / "notes.txt")}))
    with pytest.raises(InputError, match="did you mean 'digits'"):
        material.material(make({"classes": 2, "data": "digit"}))


def test_the_stored_plan_remembers_its_data(tmp_path):
    plan = material.read_plan(write_plan(tmp_path))
    with build.learner(plan, material.material(plan), store=tmp_path / "run.db") as learner:
        kept = learner.status().plan
    assert (kept.data, kept.test.count, kept.batch) == ("digits", 60, 5)


def test_data_of_another_kind_than_pictures_with_one_class_is_refused(tmp_path, monkeypatch):
    texts = Dataset(
        "trec", ("a", "b"), ["Who ?"], torch.zeros(1).long(), ("1",), ["?"], torch.zeros(1).long(), ("2",)
    )
    monkeypatch.setattr(material, "load", lambda *_, **__: texts)
    with pytest.raises(
        InputError, match="trec holds texts for classification; a plan in a file takes pictures"
    ):
        material.material(make({"classes": 2, "data": "trec"}))
    (tmp_path / "plan.toml").write_text('data = "uci/yacht"\n')
    with pytest.raises(InputError, match="uci/yacht has no classes, and a plan in a file needs some"):
        material.read_plan(tmp_path / "plan.toml")


def test_a_balanced_initial_set_comes_from_the_labels_of_the_data_or_of_the_oracle(tmp_path):
    plan = material.read_plan(write_plan(tmp_path), overrides=["initial={per_class=1}"])
    known = material.material(plan)
    turned = {name: str((int(label) + 1) % 10) for name, label in known.labels.items()}
    for answers, labels in ((None, known.labels), (Simulated(turned, classes=plan.classes), turned)):
        with build.learner(plan, known, answers=answers) as learner:
            asked = [question.id for question in learner.ask()]
            assert sorted(labels[name] for name in asked) == list("0123456789")


def test_labels_for_a_balanced_initial_set_are_looked_for_before_a_run(tmp_path):
    plan = material.read_plan(write_plan(tmp_path), overrides=["initial={per_class=1}"])
    assert build.check(plan)
    np.save(tmp_path / "x.npy", np.zeros((20, 1, 8, 8), np.float32))
    assert not build.check(make({**plan.model_dump(), "data": str(tmp_path / "x.npy"), "test": 0}))
    many = make({**plan.model_dump(), "initial": {"per_class": 130}, "budget": 1300})
    with pytest.raises(InputError, match=r"wants 130 items of class '[0-9]', and 1[12][0-9] with that label"):
        build.check(many)
