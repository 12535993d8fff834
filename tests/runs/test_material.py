import json

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
from askwise.store import open_store
from askwise.store.facts import Question


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


def test_data_that_need_more_than_the_plan_says_are_refused(tmp_path, monkeypatch):
    texts = Dataset(
        "trec", ("a", "b"), ["Who ?"], torch.zeros(1).long(), ("1",), ["?"], torch.zeros(1).long(), ("2",)
    )
    monkeypatch.setattr(material, "load", lambda *_, **__: texts)
    with pytest.raises(InputError, match='trec holds texts, which need an encoder; add encoder = "minilm"'):
        material.material(make({"classes": 2, "data": "trec"}))
    (tmp_path / "plan.toml").write_text('data = "uci/yacht"\n')
    with pytest.raises(InputError, match="uci/yacht holds data for classification, and the plan is of regr"):
        material.material(material.read_plan(tmp_path / "plan.toml"))  # what is loaded here is trec


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


OWN = """
from torch import nn

def build(features, classes, width=7):
    return nn.Sequential(nn.Flatten(), nn.Linear(features, width), nn.ReLU(), nn.Linear(width, classes))

def score(log_probs):
    return -log_probs.exp().mean(dim=1).max(dim=-1).values

class Letters(nn.Module):
    width = 8

    def tokens(self, texts, *, length):
        import torch
        return torch.tensor([[ord(letter) for letter in text[:8].ljust(8)] for text in texts])

    def forward(self, tokens):
        return tokens.float() / 128

letters = Letters()
"""


def test_a_network_and_a_score_of_ones_own_run_from_a_plan(askwise, tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    plan = write_plan(tmp_path, 'acquire = "mine:score"\n')
    plan.write_text(plan.read_text().replace('network = "mlp"', 'network = "mine:build"'))
    assert askwise("plan", "check", plan)[0] == 0
    code, out, _ = askwise("run", plan, "--oracle", "simulated", "--json")
    assert (code, json.loads(out)["runs"][0]["labels"]) == (0, [10, 15, 20])
    named = write_plan(tmp_path, 'acquire = "least_confidence"\n', name="named.toml")
    named.write_text(named.read_text().replace('network = "mlp"', 'network = "mine:build"'))
    askwise("run", named, "--oracle", "simulated")
    stores = [open_store(tmp_path / name, access="read") for name in ("tiny.db", "named.db")]
    asked = [[question.id for question in store.facts(Question)] for store in stores]
    for store in stores:
        store.close()
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("network=mine:bild", "module 'mine' has no 'bild'"),
        ("network=gone:build", "there is no module 'gone' for the network 'gone'"),
        ("network=mine:OWN_NUMBER", "is a int, not a function or a torch module"),
        ("network=nlp", "unknown network 'nlp'; did you mean 'mlp'"),
        ("acquire=mine:OWN_NUMBER", "is a int, not a function"),
        ("engine=rai", "unknown engine 'rai'; did you mean 'ray'"),
        ("engine_options.procesess=2", "unknown option of engine 'local' 'procesess'"),
        ("acquire_options.beta=2", "acquisition 'bald' takes no options, and was given 'beta'"),
        ("select_options.k=2", "selection 'top_k' takes no options, and was given 'k'"),
        ("device=cuda:99", "device 'cuda:99' is not available"),
        ("data=nowhere/photos", "unknown data set (and there is no such file or folder)"),
        ("encoder=minilmm", "unknown encoder"),
        ("labels=labels.csv", "labels in the plan: digits is a data set, and comes with its own"),
    ],
)
def test_plan_check_and_run_refuse_the_same_with_the_same_line(setting, message, askwise, tmp_path):
    (tmp_path / "mine.py").write_text(OWN + "OWN_NUMBER = 7\n")
    plan = write_plan(tmp_path)
    lines = []
    for command in (["plan", "check", plan], ["run", plan, "--oracle", "simulated"]):
        code, _, err = askwise(*command, "--set", setting)
        assert code == 2
        lines.append(err)
    assert message in lines[0]
    assert lines[0] == lines[1]
    assert not (tmp_path / "tiny.db").exists()


def photos(folder, names):
    rng = np.random.default_rng(0)
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shade = 200 if "dark" not in name else 40
        pixels = rng.integers(shade, shade + 40, (12, 12, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path)


PHOTOS = """
data = "photos"
classes = ["dark", "light"]
network = "mlp"
initial = 4
batch = 2
budget = 8
draws = 3
data_options = {size = 6, channels = 1}
"""


def test_photos_in_a_folder_for_each_class_run_by_themselves(askwise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [f"{kind}/{number}.png" for kind in ("dark", "light") for number in range(10)]
    photos(tmp_path / "photos", names)
    (tmp_path / "plan.toml").write_text(PHOTOS + 'labels = "folders"\ntest = 6\n')
    code, out, err = askwise("run", "plan.toml", "--oracle", "simulated", "--json")
    assert code == 0, err
    run = json.loads(out)["runs"][0]
    assert run["labels"] == [4, 6, 8]
    assert run["accuracy"][-1] > 0.8
    assert json.loads(askwise("status", "plan.toml", "--json")[1])["runs"][0]["items"] == 14


def test_labels_of_photos_are_found_by_their_bare_names(askwise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [f"a/{kind}{number}.png" for kind in ("dark", "light") for number in range(6)]
    photos(tmp_path / "photos", names)
    labels = [(name.partition("/")[2], name.partition("/")[2][:-5]) for name in names]
    lines = [f"{name};{label}" for name, label in labels]
    (tmp_path / "labels.csv").write_text("\n".join(["file;class", *lines, "gone.png;dark"]))
    (tmp_path / "held.csv").write_text("\n".join(["file;class", lines[0], lines[-1]]))
    (tmp_path / "plan.toml").write_text(PHOTOS + 'test = "held.csv"\n')
    code, out, err = askwise("run", "plan.toml", "--oracle", "labels.csv")
    assert code == 0, err
    assert "accuracy" in out
    assert "1 of 13 lines of labels.csv names no item: 'gone.png'" in err
    # a label that was changed in the file is a correction
    question = json.loads(askwise("run", "plan.toml", "--json")[1])["runs"][0]
    assert question["stopped"]
    swapped = [f"{name};{'light' if label == 'dark' else 'dark'}" for name, label in labels]
    (tmp_path / "labels.csv").write_text("\n".join(["file;class", *swapped]))
    before, after = [], []
    for found in (before, after):
        found.append(json.loads(askwise("status", "plan.toml", "--json")[1])["runs"][0]["rounds"])
        code, _, err = askwise("run", "plan.toml", "--oracle", "labels.csv")
        assert code == 0, err
    assert (before, after) == ([3], [4])


def test_texts_of_a_table_run_with_an_encoder(askwise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)
    lines = [f"{number},{'aaaa' if number % 2 else 'zzzz'} {number}" for number in range(20)]
    (tmp_path / "pool.csv").write_text("\n".join(["id,words", *lines]))
    (tmp_path / "labels.csv").write_text(
        "\n".join(["id,label", *(f"{number},{'odd' if number % 2 else 'even'}" for number in range(20))])
    )
    (tmp_path / "plan.toml").write_text(
        'data = "pool.csv"\nclasses = ["even", "odd"]\nencoder = "mine:letters"\nlabels = "labels.csv"\n'
        "initial = 4\nbatch = 2\nbudget = 8\ndraws = 3\ntest = 6\n"
        'data_options = {column = "words", id_column = "id"}\n'
    )
    assert askwise("plan", "check", "plan.toml")[0] == 0
    code, out, err = askwise("run", "plan.toml", "--oracle", "simulated", "--json")
    assert code == 0, err
    assert json.loads(out)["runs"][0]["accuracy"][-1] == 1
    assert (tmp_path / "plan.db.features").is_dir() or list(tmp_path.glob("*.features"))


def test_a_table_of_numbers_and_categories_runs(askwise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{number},{number % 2 * 3.0},{'red' if number % 2 else 'blue'}" for number in range(20)]
    (tmp_path / "pool.csv").write_text("\n".join(["id,size,colour", *rows]))
    (tmp_path / "plan.toml").write_text(
        'data = "pool.csv"\nclasses = ["even", "odd"]\nnetwork = "mlp"\ninitial = 4\nbudget = 6\nbatch = 2\n'
        'draws = 3\ndata_options = {id_column = "id"}\n'
    )
    code, out, err = askwise("run", "plan.toml", "--json")
    assert code == 0, err
    assert len(json.loads(out)["runs"][0]["questions"]) == 4


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('labels = "folders"', "no folder under photos is called as a class"),
        ("test = 3", 'photos has no labels to hold out; name a file of them: test = "labels.csv"'),
        ("data_options = {sise = 6}", "unknown option of data 'photos': 'sise'; did you mean 'size'"),
        ('encoder = "mine:letters"', "takes texts, and photos has pictures"),
    ],
)
def test_what_own_data_lack_is_said_in_one_line(lines, message, askwise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)
    photos(tmp_path / "photos", ["a.png", "b.png"])
    kept = [line for line in PHOTOS.splitlines() if not line.startswith(lines.partition(" ")[0])]
    (tmp_path / "plan.toml").write_text("\n".join([*kept, lines, ""]))
    code, _, err = askwise("plan", "check", "plan.toml")
    assert code == 2
    assert message in err
    assert "\n" not in err.strip()


def test_embeddings_are_read_by_the_name_of_their_column(tmp_path):
    lines = [json.dumps({"id": name, "vector": [1.0, number]}) for number, name in enumerate("abc")]
    (tmp_path / "e.jsonl").write_text("\n".join(lines))
    options = {"embedding": "vector", "id_column": "id"}
    plan = make({"classes": 2, "data": str(tmp_path / "e.jsonl"), "data_options": options})
    pool = material.material(plan).pool
    assert list(pool.ids) == ["a", "b", "c"]
    assert pool.item("c").inputs.tolist() == [1.0, 2.0]


def test_a_coding_that_is_none_is_refused(tmp_path):
    (tmp_path / "one.csv").write_text("x,kind\n0,a\n2,b\n")
    (tmp_path / "coding.json").write_text("{}")
    options = {"coding": str(tmp_path / "coding.json")}
    plan = make({"classes": 2, "data": str(tmp_path / "one.csv"), "data_options": options})
    with pytest.raises(InputError, match="is no coding of a table"):
        material.material(plan)
