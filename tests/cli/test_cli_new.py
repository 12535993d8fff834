"""`askwise new`, and the commands that take a project's name."""

import json
import tomllib

import numpy as np
import pytest
from PIL import Image

ENCODER = """
from torch import nn

class Means(nn.Module):
    size, width, licence = 8, 3, "CC0"
    def forward(self, x):
        return x.mean(dim=(2, 3))

def make():
    return Means()
"""
TONES = {"cat": (200, 30, 30), "dog": (30, 200, 30), "bird": (30, 30, 200)}
NEW = ("new", "pets", "--images", "photos", "--encoder", "own_means:make")


def picture(path, seed, tone):
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(seed).normal(0, 25, (24, 24, 3))
    Image.fromarray((np.array(tone) + noise).clip(0, 255).astype(np.uint8)).save(path)


@pytest.fixture
def photos(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_means.py").write_text(ENCODER)
    for number, (name, tone) in enumerate(TONES.items()):
        for each in range(5):
            picture(tmp_path / "photos" / name / f"{each}.png", 10 * number + each, tone)
    (tmp_path / "photos" / "empty.jpg").touch()
    return tmp_path


@pytest.fixture
def features(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32))
    return tmp_path


def status(askwise, name="pets"):
    code, out, err = askwise("status", name, "--json")
    assert (code, err) == (0, "")
    [found] = json.loads(out)["runs"]
    return found


def test_it_says_what_it_found_and_what_to_do_next(askwise, photos):
    (photos / "photos" / "again.png").write_bytes((photos / "photos" / "cat" / "0.png").read_bytes())
    code, out, err = askwise(*NEW, "--classes", "cat,dog,bird")
    assert (code, err) == (0, "")
    assert "17, of which 16 can be used" in out
    assert "refused   1: it is an empty file (empty.jpg)" in out
    assert "copies      1 exact, 0 near" in out
    assert "own_means:make: pictures, 3 features, licence CC0" in out
    assert "learns      one layer on the principal axes of own_means:make's features, which stay" in out
    assert "uncertainty by modal\nasks        first 9 items, by typiclust, then by margin\n" in out
    assert "askwise run pets --oracle labels.csv" in out
    assert status(askwise)["quarantined"] == 2  # the empty one, and one of the two copies
    plan = tomllib.loads((photos / "pets" / "plan.toml").read_text())
    assert plan["classes"] == ["cat", "dog", "bird"]
    assert (plan["initial"], plan["initial_select"], plan["acquire"]) == (9, "typiclust", "margin")


def test_from_photos_to_a_finished_run_by_the_name_alone(askwise, photos):
    assert askwise(*NEW, "--classes", "cat,dog,bird")[0] == 0
    lines = [f"{name}/{each}.png,{name}" for name in TONES for each in range(5)]
    (photos / "labels.csv").write_text("file,label\n" + "\n".join(lines))
    code, out, _ = askwise("run", "pets", "--oracle", "labels.csv", "--json")
    assert code == 0
    assert json.loads(out)["runs"][0]["store"] == "pets/store.db"
    assert (status(askwise)["labelled"], status(askwise)["rounds"]) == (15, 2)
    assert status(askwise, "pets/plan.toml") == status(askwise)
    assert askwise("report", "pets", "--out", "pets/exports/report.html")[0] == 0
    assert {"plan.toml", "store.db", "store.db.features", "exports"} <= {
        path.name for path in (photos / "pets").iterdir()
    }


def test_classes_may_be_named_later_and_until_then_every_command_says_so(askwise, photos):
    code, out, err = askwise(*NEW)
    assert (code, err) == (0, "")
    assert "classes     none yet: name them on the page with +" in out
    assert "--oracle" not in out
    assert tomllib.loads((photos / "pets" / "plan.toml").read_text())["classes"] == []
    code, out, _ = askwise("plan", "check", "pets/plan.toml")
    assert (code, "can run when two classes are named: askwise label pets" in out) == (0, True)
    assert status(askwise)["next"].startswith("name the classes on the page")
    (photos / "labels.csv").write_text("file,label\ncat/0.png,cat\ndog/0.png,dog\n")
    code, _, err = askwise("run", "pets", "--oracle", "labels.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert "needs at least two classes, and has none" in err
    assert askwise("predict", "pets")[0] == 2


def test_a_file_of_labels_names_the_classes_that_were_left_out(askwise, photos):
    assert askwise(*NEW)[0] == 0
    (photos / "labels.csv").write_text("file,label\ncat/0.png,cat\ndog/0.png,dog\n")
    found = json.loads(askwise(*NEW, "--labels", "labels.csv", "--json")[1])
    assert (found["classes"], found["new_labels"]) == (["cat", "dog"], 2)
    assert tomllib.loads((photos / "pets" / "plan.toml").read_text())["classes"] == ["cat", "dog"]
    code, _, err = askwise(*NEW, "--classes", "cat,cow")
    assert (code, "its classes: cat, dog" in err) == (2, True)


LEARNING = """
from torch import nn

class Small(nn.Module):
    size, width, licence = 8, 4, "CC0"
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
    def forward(self, x):
        return self.conv(x).relu().mean(dim=(2, 3))

def make():
    import torch
    torch.manual_seed(0)
    return Small().requires_grad_(False)
"""


def test_a_fine_tuned_encoder_learns_with_the_rest_and_predicts_as_it_has_learned(askwise, photos):
    (photos / "own_small.py").write_text(LEARNING)
    new = ("new", "pets", "--images", "photos", "--encoder", "own_small:make", "--classes", "cat,dog,bird")
    code, out, err = askwise(*new, "--fine-tune", "2", "--posterior", "laplace")
    assert (code, err) == (0, "")
    assert "learns      own_small:make itself for 2 epochs in every round, then the last layer" in out
    plan = tomllib.loads((photos / "pets" / "plan.toml").read_text())
    assert (plan["thaw"], plan["network"], plan["posterior"]["name"]) == (2, "linear", "laplace")
    lines = [f"{name}/{each}.png,{name}" for name in TONES for each in range(5)]
    (photos / "labels.csv").write_text("file,label\n" + "\n".join(lines))
    assert askwise("run", "pets", "--oracle", "labels.csv")[0] == 0
    code, out, err = askwise("predict", "pets", "--json")
    assert (code, err) == (0, "")
    assert (json.loads(out)["items"], json.loads(out)["refused"]) == (16, 1)
    code, _, err = askwise(*new, "--fine-tune", "3")
    assert (code, "its thaw: 2" in err) == (2, True)


def test_what_was_found_comes_first_with_a_sheet_of_some_items(askwise, photos):
    _, out, _ = askwise(*NEW, "--classes", "cat,dog,bird")
    assert (
        out.index("items       16")
        < out.index("refused   1")
        < out.index("look at ")
        < out.index("pets: a new")
    )
    assert "look at     pets/first-items.png: 12 of them, as they were read" in out
    sheet = np.array(Image.open(photos / "pets" / "first-items.png")).astype(int)
    reds = ((sheet[..., 0] > 150) & (sheet[..., 1:].max(axis=2) < 100)).sum()
    assert sheet.shape == (620, 760, 3)
    assert reds > 100  # some of the photos are red, and nothing else on the sheet is


def test_again_it_adds_what_is_new_and_changes_nothing_else(askwise, photos):
    command = (*NEW, "--classes", "cat,dog,bird")
    assert askwise(*command)[0] == 0
    before = (photos / "pets" / "plan.toml").read_text()
    assert "nothing new" in askwise(*command)[1]
    picture(photos / "photos" / "new.png", 99, TONES["dog"])
    assert "1 new items" in askwise(*command)[1]
    assert status(askwise)["items"] == 17
    assert (photos / "pets" / "plan.toml").read_text() == before


def test_folders_name_labels_and_classes(askwise, photos):
    picture(photos / "photos" / "unsorted.png", 99, TONES["dog"])
    code, out, err = askwise(*NEW, "--labels-from-folders", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["classes"], found["labels"], found["new_labels"]) == (["bird", "cat", "dog"], 15, 15)
    assert status(askwise)["labelled"] == 15
    assert json.loads(askwise(*NEW, "--labels-from-folders", "--json")[1])["new_labels"] == 0


def test_a_label_that_was_told_is_not_overwritten_by_a_file(askwise, features):
    command = ("new", "p", "--features", "x.npy", "--classes", "a,b", "--labels", "labels.csv", "--json")
    (features / "labels.csv").write_text("row,label\n0,a\n1,b\n")
    assert json.loads(askwise(*command)[1])["labels"] == 2
    (features / "labels.csv").write_text("row,label\n0,b\n1,b\n2,skip\n3,a\n")
    found = json.loads(askwise(*command)[1])
    assert (found["labels"], found["new_labels"]) == (3, 1)


def test_two_classes_begin_at_random_and_go_on_with_bald(askwise, features):
    assert askwise("new", "p", "--features", "x.npy", "--classes", "a,b")[0] == 0
    plan = tomllib.loads((features / "p" / "plan.toml").read_text())
    assert (plan["acquire"], plan["network"], plan.get("initial_select")) == ("bald", "on_axes", None)


def test_a_table_keeps_its_coding_with_the_project(askwise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{number},{'ab'[number % 2]},{number}" for number in range(12)]
    (tmp_path / "t.csv").write_text("x,kind,id\n" + "\n".join(rows))
    command = ("new", "p", "--table", "t.csv", "--id-column", "id", "--classes", "yes,no")
    assert askwise(*command)[0] == 0
    coding = (tmp_path / "p" / "coding.json").read_text()
    (tmp_path / "t.csv").write_text("x,kind,id\n" + "\n".join([*rows, "1000,b,12"]))
    code, out, _ = askwise(*command)
    assert (code, "1 new items" in out) == (0, True)
    assert (tmp_path / "p" / "coding.json").read_text() == coding


def test_missing_numbers_are_no_categories_and_many_categories_are_told(askwise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{number}.5,{number % 21}th,{'NA' if number % 3 else number}" for number in range(42)]
    (tmp_path / "t.csv").write_text("x,floor,age\n" + "\n".join(rows))
    code, out, _ = askwise("new", "p", "--table", "t.csv", "--classes", "yes,no")
    assert code == 0
    assert "column 'floor' is read as 21 categories, for its values are no numbers, such as '0th'" in out
    kinds = [column["kind"] for column in json.loads((tmp_path / "p" / "coding.json").read_text())["columns"]]
    assert kinds == ["number", "category", "number"]


def test_a_column_ignored_later_is_no_longer_learned_from_and_no_label_is_lost(
    askwise, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    cells = [f"{'ab'[number % 2]},{number}.5" for number in range(12)]
    (tmp_path / "t.csv").write_text("kind,x\n" + "\n".join(cells))
    lines = [f"{number},{'yes' if number < 6 else 'no'}" for number in range(12)]
    (tmp_path / "labels.csv").write_text("row,label\n" + "\n".join(lines))
    command = ("new", "p", "--table", "t.csv", "--classes", "yes,no")
    assert askwise(*command)[0] == 0
    plan = tmp_path / "p" / "plan.toml"
    plan.write_text(plan.read_text().replace("budget = 200", "budget = 8"))
    assert askwise("run", "p", "--oracle", "labels.csv")[0] == 0
    before = status(askwise, "p")
    assert (before["labelled"], before["changed"]) == (8, [])
    code, _, err = askwise(*command, "--ignore", "kind")
    assert (code, "its ignore: none; change p/plan.toml" in err) == (2, True)
    plan.write_text(plan.read_text().replace("ignore = []", 'ignore = ["kind"]'))
    assert askwise("run", "p", "--oracle", "labels.csv")[0] == 0
    after = status(askwise, "p")
    assert (after["labelled"], after["changed"]) == (8, ["ignored columns"])
    assert after["rounds"] > before["rounds"]  # the model that had learned from it counts no longer
    code, out, _ = askwise("predict", "p")
    assert (code, "8 of them labelled already" in out) == (0, True)
    (tmp_path / "new.csv").write_text("x\n1.5\n1e9\n")
    code, out, _ = askwise("predict", "p", "--input", "new.csv", "--output", "new.jsonl")
    assert (code, "1  like nothing that the model knows" in out) == (0, True)
    usual, far = map(json.loads, (tmp_path / "new.jsonl").read_text().splitlines())
    assert (usual["error"], far["ask"], far["class"] in ("yes", "no")) == (None, True, True)
    assert far["error"] == "'x' is '1e9', far outside of 0.5 to 11.5, which the model knows"
    assert askwise(*command, "--ignore", "kind")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--classes", "a,b"), "name one of --images, --text, --table, --arrays, --features, not none"),
        (("--features", "x.npy", "--arrays", "x.npy", "--classes", "a,b"), "not arrays and features"),
        (("--features", "nowhere.npy", "--classes", "a,b"), "there is no file or folder 'nowhere.npy'"),
        (("--features", "x.npy", "--classes", ""), "name the classes"),
        (("--features", "x.npy", "--classes", "a"), "at least two classes"),
        (
            ("--features", "x.npy", "--classes", "a,b", "--fine-tune", "2"),
            "goes with --images and an encoder",
        ),
        (("--features", "x.npy", "--classes", "a,a"), "is named 2 times"),
        (("--features", "x.npy", "--classes", "a,b", "--acquire", "bold"), "did you mean 'bald'"),
        (("--features", "x.npy", "--classes", "a,b", "--posterior", "laplas"), "laplace"),
        (("--features", "x.npy", "--classes", "a,b", "--ignore", "x"), "--ignore goes with --table"),
        (("--features", "x.npy", "--classes", "a,b", "--labels", "bad.csv"), "which is no class"),
        (("--features", "x.npy", "--classes", "a,b", "--labels-from-folders"), "goes with --images"),
        (("--arrays", "broken.npy", "--classes", "a,b"), "cannot be read as a .npy array"),
        (("--images", "hollow", "--classes", "a,b"), "holds no pictures"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_leaves_nothing_behind(askwise, features, arguments, said):
    (features / "broken.npy").write_bytes(b"no array")
    (features / "bad.csv").write_text("row,label\n0,z\n")
    (features / "hollow").mkdir()
    code, out, err = askwise("new", "p", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert not (features / "p").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--features", "y.npy", "--classes", "a,b"), "its data"),
        (("--features", "x.npy", "--classes", "a,b,c"), "its classes: a, b"),
        (("--features", "x.npy", "--acquire", "margin"), "its acquire: bald"),
    ],
)
def test_what_contradicts_a_project_is_refused_and_changes_nothing(askwise, features, arguments, said):
    np.save("y.npy", np.zeros((3, 4), np.float32))
    assert askwise("new", "p", "--features", "x.npy", "--classes", "a,b")[0] == 0
    before = {path.name: path.read_bytes() for path in (features / "p").iterdir() if path.is_file()}
    code, _, err = askwise("new", "p", *arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert said in err
    assert before == {path.name: path.read_bytes() for path in (features / "p").iterdir() if path.is_file()}


def test_a_folder_of_other_things_is_no_place_for_a_project(askwise, features):
    (features / "p").mkdir()
    (features / "p" / "thesis.txt").write_text("mine")
    code, _, err = askwise("new", "p", "--features", "x.npy", "--classes", "a,b")
    assert (code, "is no project; choose another name" in err) == (2, True)
    assert [path.name for path in (features / "p").iterdir()] == ["thesis.txt"]
    code, _, err = askwise("run", "p")
    assert (code, "p is no project: it has no plan.toml" in err) == (2, True)


def test_examples_are_labels_and_name_the_classes(askwise, photos):
    shown = [word for name in TONES for word in ("--example", f"{name}={name}/0.png")]
    code, out, err = askwise(*NEW, *shown, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["classes"] == list(TONES)
    assert json.loads(out)["labels"] == 3
    assert "written CLASS=ITEM" in askwise(*NEW[:1], "b", *NEW[2:], "--example", "cat")[2]
    assert "no item 'x.png'" in askwise(*NEW[:1], "b", *NEW[2:], *shown, "--example", "cat=x.png")[2]
    assert "choose" in askwise(*NEW[:1], "b", *NEW[2:], *shown, "--example", "dog=cat/0.png")[2]


def test_labels_of_pictures_that_cannot_be_read_are_left_out_and_counted(askwise, photos):
    (photos / "photos" / "cat" / "broken.png").write_bytes(b"no picture")
    code, out, err = askwise(*NEW, "--labels-from-folders")
    assert (code, err) == (0, "")
    assert "known labels of items that cannot be read, which are left out: 1" in out
    assert status(askwise)["labelled"] == 15


def test_stacks_are_taken_by_choice_and_the_stretch_of_deep_pictures_is_told_and_stays(askwise, photos):
    rows = [np.full((8, 8), 3000 + 100 * page, np.uint16) for page in range(3)]
    rows[0][:, :4] = 20
    for number in range(12):
        (photos / "cells").mkdir(exist_ok=True)
        pages = [Image.fromarray(page + number) for page in rows]
        pages[0].save(photos / "cells" / f"{number}.tif", save_all=True, append_images=pages[1:])
    new = ("new", "cells.project", "--images", "cells", "--classes", "a,b", "--encoder", "none")
    code, out, _ = askwise(*new)
    assert "refused   12: it has 3 pages or frames" in out
    code, out, err = askwise("new", "stacks", *new[2:], "--stack", "0")
    assert (code, err) == (0, "")
    assert "12, of which 12 can be used" in out
    plan = tomllib.loads((photos / "stacks" / "plan.toml").read_text())["data_options"]
    (low,), (high,) = plan["stretch"]
    assert plan["stack"] == 0
    assert f"from black to white: {low:g} to {high:g}" in out
    assert 20 <= low < high <= 3011
    bright = [Image.fromarray(page * 10) for page in rows]
    bright[0].save(photos / "cells" / "bright.tif", save_all=True, append_images=bright[1:])
    code, out, err = askwise("new", "stacks", *new[2:], "--stack", "0")
    assert (code, err) == (0, "")
    assert "1 new items" in out
    assert tomllib.loads((photos / "stacks" / "plan.toml").read_text())["data_options"] == plan
