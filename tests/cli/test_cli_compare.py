import json

import pytest

from askwise.compare.exam.sitting import Protocol

TINY = ["--labels", 60, "--epochs", 1, "--draws", 2, "--network", "mlp,hidden=[8],dropout=0.2"]


def test_compare_prints_a_table_and_writes_it_with_a_picture_and_json(askwise, tmp_path):
    code, out, err = askwise(
        "compare", "digits", *TINY, "--posteriors", "bbb,point", "--seeds", "0-1", "--out", tmp_path
    )
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert max(map(len, lines[:6])) <= 80
    assert [line.split()[0] for line in lines[2:6:2]] == ["point", "bbb"]  # in the order of the table
    assert "±" in lines[3]
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {f"compare_digits_60_mlp.{ending}" for ending in ("md", "png", "json", "jsonl")}
    code, out, _ = askwise(
        "compare", *TINY, "--posteriors", "bbb,point", "--seeds", "0-1", "--out", tmp_path, "--json"
    )
    found = json.loads(out)
    assert (code, found["seeds"], list(found["summary"])) == (0, [0, 1], ["point", "bbb"])
    assert found["command"] == (
        "askwise compare digits --labels 60 --seeds 0-1 --epochs 1 --draws 2 --posteriors bbb,point "
        "--network 'mlp,hidden=[8],dropout=0.2'"
    )
    assert len((tmp_path / "compare_digits_60_mlp.jsonl").read_text().splitlines()) == 4


def test_a_posterior_that_refuses_is_noted_beside_the_others(askwise, tmp_path):
    options = ["--labels", 60, "--epochs", 1, "--draws", 2, "--network", "mlp,hidden=[8]", "--seeds", 0]
    code, out, _ = askwise("compare", *options, "--posteriors", "point,mc_dropout", "--out", tmp_path)
    assert code == 0
    assert "mc_dropout refused: mc_dropout needs a network that calls dropout" in out
    code, out, err = askwise("compare", *options, "--posteriors", "mc_dropout", "--out", tmp_path)
    assert (code, out) == (2, "")
    assert "mc_dropout needs a network that calls dropout" in err


def test_one_kl_weight_for_all_has_files_of_its_own(askwise, tmp_path):
    options = ["--labels", 60, "--epochs", 1, "--draws", 2, "--network", "mlp,hidden=[8]", "--seeds", 0]
    code, out, _ = askwise(
        "compare", *options, "--posteriors", "point,vbll", "--kl-weight", 1, "--out", tmp_path, "--json"
    )
    found = json.loads(out)
    assert code == 0
    assert [row["kl_weight"] for row in found["rows"]] == [None, 1.0]
    assert found["command"].endswith("--kl-weight 1.0")
    assert (tmp_path / "compare_digits_60_mlp_kl1.md").exists()


BAD = {
    "an unknown data set": (["minst"], "did you mean 'mnist'?"),
    "data that are not here": (["mnist", "--data", "{tmp}"], "askwise data fetch mnist"),
    "an unknown posterior": (["digits", "--posteriors", "point,bbq"], "did you mean 'bbb'?"),
    "no posterior": (["digits", "--posteriors", ""], "unknown posterior"),
    "an unknown network": (["digits", "--network", "mpl"], "did you mean 'mlp'?"),
    "an unknown option of it": (["digits", "--network", "mlp,dropot=0.5"], "did you mean 'dropout'?"),
    "a network for larger images": (["digits", "--network", "batchbald_cnn"], "at least 16 x 16"),
    "too many labels": (["digits", "--labels", "2000"], "digits has 1,201 labels"),
    "no labels": (["digits", "--labels", "0"], "labels must be"),
    "no epochs": (["digits", "--epochs", "0"], "epochs must be"),
    "seeds that are none": (["digits", "--seeds", "a"], "seeds are written"),
    "unknown ood items": (["digits", "--ood", "fotos"], "did you mean 'photos'?"),
    "ood items that are not": (["digits", "--ood", "digits"], "not ood to itself"),
    "a weight that is none": (["digits", "--kl-weight", "0"], "kl_weight must be above 0"),
    "ood items that are not here": (["digits", "--ood", "mnist", "--data", "{tmp}"], "data fetch mnist"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_line_with_exit_code_2(askwise, tmp_path, case):
    arguments, wanted = BAD[case]
    out_folder = tmp_path / "out"
    code, out, err = askwise(
        "compare", *(a.replace("{tmp}", str(tmp_path)) for a in arguments), "--out", out_folder
    )
    assert (code, out) == (2, "")
    assert err.startswith("askwise: ")
    assert err.count("\n") == 1
    assert wanted in err
    assert not out_folder.exists()


@pytest.fixture
def short_exam(monkeypatch):
    """An exam that nobody has learned for."""
    from askwise.compare import exam

    monkeypatch.setattr(exam, "Protocol", lambda: Protocol(steps=10, draws=50))


def test_the_exam_prints_a_table_for_each_head_and_writes_it(askwise, tmp_path, short_exam):
    arguments = ["compare", "--exam", "--posteriors", "vbll,point", "--out", tmp_path]
    code, out, err = askwise(*arguments)
    assert (code, err) == (0, "")
    tables = [part for part in out.split("\n\n") if part.startswith(("digits", "diabetes"))]
    assert [part.split(":")[0] for part in tables] == ["digits", "diabetes"]
    for part in tables:
        lines = part.splitlines()[1:]
        assert max(map(len, lines)) <= 80
        names = [line.split("  ")[0].strip() for line in lines[2:] if not line.startswith(" ")]
        assert [n for n in names if n] == ["(gold again)", "(mean-field)", "point", "vbll dense", "vbll diag"]
    assert {path.name for path in tmp_path.iterdir()} == {"exam.md", "exam.json", "exam.jsonl"}
    written = (tmp_path / "exam.md").read_text()
    assert all(word in written for word in ("R-hat 1.000", "effective sample size", '"steps": 10', "Seeds 0"))
    before = (tmp_path / "exam.jsonl").read_bytes()
    code, out, _ = askwise(*arguments, "--json")
    found = json.loads(out)
    assert found["command"] == "askwise compare --exam --posteriors vbll,point --seeds 0"
    assert set(found["heads"]["diabetes"]["summary"]) == {"point", "vbll dense", "vbll diag"}
    assert (tmp_path / "exam.jsonl").read_bytes() == before  # what was done is not done again


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["mnist"], "leave the name of a data set out"),
        (["--labels", "5"], "leave --labels out"),
        (["--network", "mlp"], "leave --network out"),
        (["--kl-weight", "1"], "leave --kl-weight out"),
    ],
)
def test_the_exam_refuses_what_it_has_of_its_own(askwise, tmp_path, arguments, wanted):
    code, out, err = askwise("compare", "--exam", *arguments, "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert wanted in err
