"""`askwise predict` and `askwise export`: from a project to files, by its name alone."""

import csv
import json
import shutil

import numpy as np
import pytest
from PIL import Image

import askwise as aw
from askwise.errors import InputError
from askwise.export.labels import read_folders, read_label_studio
from askwise.oracle.labelling import labelling
from askwise.project import Project

ENCODER = """
import torch
from torch import nn

class Means(nn.Module):
    size, width, licence = 8, 3, "CC0"
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor(2.0))
    def forward(self, x):
        with open("encoded.log", "a") as log:
            log.write(f"{len(x)}\\n")
        return self.scale * x.mean(dim=(2, 3))

def make():
    return Means()
"""
TONES = {"cat": (200, 30, 30), "dog": (30, 200, 30), "bird": (30, 30, 200)}


def picture(path, seed, tone):
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(seed).normal(0, 25, (24, 24, 3))
    Image.fromarray((np.array(tone) + noise).clip(0, 255).astype(np.uint8)).save(path)


@pytest.fixture
def pets(askwise, tmp_path, monkeypatch):
    """A project whose run is over."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_tones.py").write_text(ENCODER)
    lines = ["file,label"]
    for number, (name, tone) in enumerate(TONES.items()):
        for each in range(5):
            picture(tmp_path / "photos" / name / f"{each}.png", 10 * number + each, tone)
            lines.append(f"{name}/{each}.png,{name}")
        picture(tmp_path / "new" / f"={name}.png", 100 + number, tone)
    (tmp_path / "new" / "empty.jpg").touch()
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    new = ("new", "pets", "--images", "photos", "--encoder", "own_tones:make", "--classes", "cat,dog,bird")
    assert askwise(*new)[0] == 0
    assert askwise("run", "pets", "--oracle", "labels.csv")[0] == 0
    return tmp_path


def test_new_photos_get_a_class_each_and_nothing_has_to_be_said_again(askwise, pets):
    code, out, err = askwise("predict", "pets", "--input", "new", "--output", "p.csv")
    assert (code, err) == (0, "")
    assert "p.csv: 4 items" in out
    assert "1  refused" in out
    rows = list(csv.DictReader((pets / "p.csv").read_text().splitlines()))
    assert {row["id"]: row["class"] for row in rows} == {
        "'=bird.png": "bird",
        "'=cat.png": "cat",
        "'=dog.png": "dog",
        "empty.jpg": "",
    }
    for row in rows:
        if row["error"]:
            assert (row["error"], row["ask"]) == ("it is an empty file", "yes")
        else:
            chances = {name: float(row[f"p:{name}"]) for name in TONES}
            assert sum(chances.values()) == pytest.approx(1, abs=1e-5)
            assert float(row["probability"]) == max(chances.values()) == chances[row["class"]]
            parts = float(row["epistemic"]) + float(row["aleatoric"])
            assert parts == pytest.approx(float(row["total"]), abs=1e-5)


def test_a_person_is_asked_where_the_model_is_less_sure_than_the_risk_allows(askwise, pets):
    found = {}
    for risk in ("0.999", "0.000001"):
        code, out, _ = askwise("predict", "pets", "--input", "new", "--risk", risk, "--json")
        assert code == 0
        found[risk] = json.loads(out)["ask"]
    assert found == {"0.999": 0, "0.000001": 3}
    assert askwise("predict", "pets", "--risk", "1.5")[2].startswith("askwise: risk is a share of errors")


def test_of_its_own_items_a_project_knows_the_labels_and_asks_nobody_again(askwise, pets):
    assert askwise("correct", "pets", "cat/0.png", "dog")[0] == 0
    assert askwise("correct", "pets", "cat/1.png", "cannot_tell")[0] == 0
    assert askwise("correct", "pets", "cat/2.png", "retract")[0] == 0
    code, out, _ = askwise("predict", "pets", "--risk", "0.000001", "--output", "p.csv")
    assert code == 0
    assert "p.csv: 15 items, 14 of them labelled already (column label)" in out
    assert "ask a person about 1:" in out
    rows = {row["id"]: row for row in csv.DictReader((pets / "p.csv").read_text().splitlines())}
    said = {"cat/0.png": ("dog", "no"), "cat/1.png": ("cannot_tell", "no"), "cat/2.png": ("", "yes")}
    assert {name: (rows[name]["label"], rows[name]["ask"]) for name in said} == said
    assert {row["ask"] for name, row in rows.items() if name not in said} == {"no"}
    counted = json.loads(askwise("predict", "pets", "--json")[1])
    assert (counted["items"], counted["labelled"], sum(counted["classes"].values())) == (15, 14, 1)


def test_a_photo_elsewhere_has_no_label_because_another_of_its_name_has_one(askwise, pets):
    shutil.copytree(pets / "photos", pets / "others")
    how = ("--risk", "0.000001", "--json")
    assert json.loads(askwise("predict", "pets", "--input", "others", *how)[1])["ask"] == 15
    assert json.loads(askwise("predict", "pets", "--input", "photos", *how)[1])["ask"] == 0


def test_a_folder_that_grows_is_encoded_only_where_it_is_new(askwise, pets):
    assert askwise("predict", "pets", "--input", "new", "--output", "p.jsonl")[0] == 0
    before = (pets / "p.jsonl").read_text().splitlines()
    (pets / "encoded.log").unlink()
    assert askwise("predict", "pets", "--input", "new", "--output", "p.jsonl")[0] == 0
    repeated = len((pets / "encoded.log").read_text().splitlines())
    assert (pets / "p.jsonl").read_text().splitlines() == before
    picture(pets / "new" / "later.png", 200, TONES["dog"])
    (pets / "encoded.log").unlink()
    assert askwise("predict", "pets", "--input", "new", "--output", "p.jsonl")[0] == 0
    after = {row["id"]: row for row in map(json.loads, (pets / "p.jsonl").read_text().splitlines())}
    assert len((pets / "encoded.log").read_text().splitlines()) == repeated + 1  # one pass for one picture
    assert after.pop("later.png")["class"] == "dog"
    assert list(after.values()) == [json.loads(line) for line in before]


def test_a_damaged_or_missing_model_is_said_in_one_line(askwise, pets):
    assert "has no model yet" in _without_model(askwise, pets)
    for weights in (pets / "pets").rglob("weights.safetensors"):
        weights.write_bytes(b"")
    code, _, err = askwise("predict", "pets", "--input", "new")
    assert code == 2
    assert "is not the file that was saved" in err


def _without_model(askwise, pets):
    assert (
        askwise("new", "fresh", "--images", "photos", "--encoder", "own_tones:make", "--classes", "a,b")[0]
        == 0
    )
    return askwise("predict", "fresh")[2]


def test_the_exported_model_loads_in_three_lines_and_says_the_same(askwise, pets):
    assert askwise("export", "pets", "--model", "--output", "taken")[0] == 0
    card = (pets / "taken" / "README.md").read_text()
    for said in ("cat, dog, bird", "- cat: 5", "aw.load('taken')", "was not measured", "own_tones:make"):
        assert said in card
    lines = [line for line in card.splitlines() if line.startswith(("import", "model =", "found ="))]
    shutil.copytree(pets / "new", pets / "good")
    (pets / "good" / "empty.jpg").unlink()
    assert len(lines) == 3
    made = {}
    exec("\n".join(lines).replace("new_items/", "good/"), made)
    model, mean = made["model"], made["found"].mean
    assert askwise("predict", "pets", "--input", "good", "--output", "p.jsonl")[0] == 0
    rows = [json.loads(line) for line in (pets / "p.jsonl").read_text().splitlines()]
    for row, own in zip(rows, mean.tolist(), strict=True):
        assert [row[f"p:{name}"] for name in model.classes] == pytest.approx(own, abs=0.05)  # other draws


def test_the_card_names_the_data_by_their_way_from_the_project_and_no_folder_of_this_machine(askwise, pets):
    for project, output in (("pets", "taken"), (str(pets / "pets"), str(pets / "far"))):
        assert askwise("export", project, "--model", "--output", output)[0] == 0
        card = (pets / output / "README.md").read_text()
        assert "# pets" in card
        assert "15 items of ../photos;" in card
        assert str(pets) not in card
    away = Project(pets / "other" / "pets")
    assert away.called(pets / "photos") == "photos"
    assert away.called("digits") == "digits"


def test_a_model_refuses_another_encoder_of_the_same_name(askwise, pets):
    assert askwise("export", "pets", "--model", "--output", "taken")[0] == 0
    model = aw.load(pets / "taken")
    (pets / "elsewhere").mkdir()
    (pets / "elsewhere" / "own_tones.py").write_text(ENCODER.replace("2.0", "3.0"))
    with pytest.raises(InputError, match="is not the one that the model learned from"):
        aw.pool_for(model, pets / "new", folder=pets / "elsewhere")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_exported_labels_begin_another_project(askwise, pets, kind):
    code, out, err = askwise("export", "pets", "--labels", "--format", kind)
    assert (code, err) == (0, "")
    assert out == f"pets/exports/labels.{kind}: 15 labels\n"
    more = ("new", "more", "--images", "photos", "--encoder", "own_tones:make")
    code, out, _ = askwise(*more, "--labels", f"pets/exports/labels.{kind}", "--json")
    assert (code, json.loads(out)["labels"]) == (0, 15)


def test_labels_go_to_label_studio_and_into_folders(askwise, pets):
    assert askwise("export", "pets", "--labels", "--output", "tasks.json")[0] == 0
    expected = {f"{name}/{each}.png": name for name in TONES for each in range(5)}
    kind = labelling({"name": "classification"}, tuple(TONES))
    assert {one.id: one.told for one in read_label_studio(pets / "tasks.json", kind)} == expected
    first = json.loads((pets / "tasks.json").read_text())[0]
    assert first["data"]["image"] == str(pets / "photos" / "bird" / "0.png")
    assert askwise("export", "pets", "--labels", "--output", "tree")[0] == 0
    assert {one.id: one.told for one in read_folders(pets / "tree")} == expected
    again = ("new", "tree2", "--images", "tree", "--labels-from-folders", "--encoder", "own_tones:make")
    assert json.loads(askwise(*again, "--json")[1])["labels"] == 15


def test_what_to_export_must_be_said(askwise, pets):
    assert askwise("export", "pets")[2] == "askwise: say what to export: --labels, --model or --onnx\n"
    assert "unknown format of labels 'xls'" in askwise("export", "pets", "--labels", "--format", "xls")[2]
    assert (
        "do not agree" in askwise("export", "pets", "--labels", "--format", "csv", "--output", "a.jsonl")[2]
    )


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_of_a_folder_that_grows_only_what_is_new_is_predicted_and_appended(askwise, pets, kind):
    output = f"found.{kind}"
    command = ("predict", "pets", "--input", "new", "--output", output, "--append", "--json")
    first = json.loads(askwise(*command)[1])
    assert (first["items"], first["kept"]) == (4, 0)
    before = (pets / output).read_bytes()
    again = json.loads(askwise(*command)[1])
    assert (again["items"], again["kept"]) == (0, 4)
    assert (pets / output).read_bytes() == before
    picture(pets / "new" / "+more.png", 200, TONES["dog"])
    more = json.loads(askwise(*command)[1])
    assert (more["items"], more["kept"], more["classes"]["dog"]) == (1, 4, 1)
    after = (pets / output).read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b"\n") == 1
    assert askwise("predict", "pets", "--input", "new", "--output", f"whole.{kind}")[0] == 0
    assert sorted((pets / f"whole.{kind}").read_text().splitlines()) == sorted(after.decode().splitlines())


def learn_more(askwise):
    """Another round: of one photo the label is another by now."""
    assert askwise("correct", "pets", "cat/0.png", "dog")[0] == 0
    assert askwise("run", "pets", "--oracle", "labels.csv")[0] == 0


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_rows_of_an_earlier_model_are_replaced_and_those_of_items_that_are_gone_are_counted(
    askwise, pets, kind
):
    output = f"found.{kind}"
    command = ("predict", "pets", "--input", "new", "--output", output, "--append")
    first = json.loads(askwise(*command, "--json")[1])
    old = {row["id"]: row for row in read(pets / output)}
    learn_more(askwise)
    (pets / "new" / "=cat.png").unlink()
    picture(pets / "new" / "later.png", 200, TONES["dog"])
    code, out, _ = askwise(*command)
    assert code == 0
    assert f"{output}: 1 new items after 4, 3 others predicted again, by the model of round" in out
    assert "      1  rows by earlier models stay: their items are not among these (column round)" in out
    rows = {row["id"]: row for row in read(pets / output)}
    assert len(rows) == len(read(pets / output)) == 5
    gone = "'=cat.png" if kind == "csv" else "=cat.png"
    assert rows.pop(gone) == old[gone]
    assert str(old[gone]["round"]) == str(first["round"])
    assert askwise("predict", "pets", "--input", "new", "--output", f"whole.{kind}")[0] == 0
    assert rows == {row["id"]: row for row in read(pets / f"whole.{kind}")}
    assert {str(row["round"]) for row in rows.values()} == {str(first["round"] + 1)}
    told = json.loads(askwise(*command, "--json")[1])
    assert [told[name] for name in ("items", "kept", "replaced", "earlier")] == [0, 5, 0, 1]


def read(path):
    """The rows of a file."""
    lines = path.read_text().splitlines()
    return list(csv.DictReader(lines)) if path.suffix == ".csv" else [json.loads(line) for line in lines]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_row_whose_label_is_another_by_now_is_replaced_though_the_model_is_the_same(askwise, pets, kind):
    command = ("predict", "pets", "--output", f"p.{kind}", "--append", "--json")
    first = json.loads(askwise(*command)[1])
    assert json.loads(askwise(*command)[1])["items"] == 0
    assert askwise("correct", "pets", "cat/0.png", "dog")[0] == 0
    assert askwise("correct", "pets", "cat/1.png", "retract")[0] == 0
    told = json.loads(askwise(*command)[1])
    assert (told["round"], told["replaced"], told["kept"]) == (first["round"], 2, 13)
    rows = {row["id"]: row["label"] or None for row in read(pets / f"p.{kind}")}
    assert (rows["cat/0.png"], rows["cat/1.png"], rows["cat/2.png"]) == ("dog", None, "cat")
    assert json.loads(askwise(*command)[1])["items"] == 0


def test_rows_are_not_appended_to_a_file_of_something_else(askwise, pets):
    (pets / "found.csv").write_text("id,class\nx,cat\n")
    code, _, err = askwise("predict", "pets", "--input", "new", "--output", "found.csv", "--append")
    assert (code, "has other columns" in err) == (2, True)
    assert (pets / "found.csv").read_text() == "id,class\nx,cat\n"
    assert askwise("predict", "pets", "--input", "new", "--output", "p.parquet")[0] == 0
    code, _, err = askwise("predict", "pets", "--input", "new", "--output", "p.parquet", "--append")
    assert (code, "use .csv or .jsonl" in err) == (2, True)
