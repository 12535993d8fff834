import pytest
import torch
from tiny_data import SETS, idx_contents, put

import askwise as aw
from askwise.data import catalogue
from askwise.errors import CorruptError, InputError


@pytest.fixture(autouse=True)
def _small_sets(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ASKWISE_DATA", raising=False)
    small = {name: make(contents()) for name, (contents, make) in SETS.items()}
    monkeypatch.setattr(catalogue, "STORED", small)
    monkeypatch.setattr(catalogue, "UCI", {"uci/yacht": small["uci/yacht"]})


def stored(tmp_path, name: str, **changes: bytes):
    contents = {**SETS[name][0](), **changes}
    put(tmp_path / name.partition("/")[0], contents, packed=name in ("mnist", "goemotions"))
    return tmp_path


def test_digits_need_no_folder():
    assert len(aw.data.load("digits").train_y) == 1201


@pytest.mark.parametrize("name", SETS)
def test_a_folder_is_read_as_it_is(tmp_path, name):
    data = aw.data.load(name, data_dir=stored(tmp_path, name))
    assert data.name == name
    assert len(data.train_x) == len(data.train_y) == len(data.train_ids)
    assert len(data.test_x) == len(data.test_y) == len(data.test_ids)
    ids = [*data.train_ids, *data.test_ids, *(data.validation.ids if data.validation else ())]
    assert len(ids) == len(set(ids))
    assert all(one.startswith(name) for one in ids)


@pytest.mark.parametrize("name", SETS)
def test_what_a_label_is_fits_the_task(tmp_path, name):
    data = aw.data.load(name, data_dir=stored(tmp_path, name))
    count, labels = len(data.classes), data.train_y
    if data.task == "regression":
        assert (count, labels.dtype, labels.ndim) == (0, torch.float32, 2)
    else:
        assert labels.dtype == torch.int64
        shape = {"classification": 1, "multilabel": 2, "segmentation": 3}[data.task]
        assert labels.ndim == shape
        known = labels[labels != data.ignore] if data.ignore is not None else labels
        assert known.max() < (2 if data.task == "multilabel" else count)
    if name in ("goemotions", "xed", "trec"):
        assert all(isinstance(text, str) and text for text in data.train_x)
    elif name != "uci/yacht":
        assert 0 <= data.train_x.min() < data.train_x.max() <= 1


def test_damage_says_how_to_get_a_good_copy(tmp_path):
    contents = idx_contents()
    put(tmp_path / "mnist", {name: content[:-1] for name, content in contents.items()})
    with pytest.raises(CorruptError, match=r"cut off.*; fetch it again with: askwise data fetch mnist"):
        aw.data.load("mnist", data_dir=tmp_path)


@pytest.mark.parametrize("name", [name for name in SETS if name not in ("mnist", "cifar10")])
def test_a_changed_byte_is_noticed_in_every_set(tmp_path, name):
    for file, content in SETS[name][0]().items():
        folder = stored(tmp_path / file, name, **{file: content[:-1] + bytes([content[-1] ^ 1])})
        if (name, file) == ("xed", "en-annotated.tsv"):
            continue  # the other language
        with pytest.raises(CorruptError, match=r"is not the published file.*; get a good copy of its files"):
            aw.data.load(name, data_dir=folder)


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="unknown data set 'mnits'; did you mean 'mnist'"):
        aw.data.load("mnits")


def test_options_belong_to_the_set(tmp_path):
    with pytest.raises(
        InputError, match="unknown option of data set 'camvid': 'shrnk'; did you mean 'shrink'"
    ):
        aw.data.load("camvid", data_dir=stored(tmp_path, "camvid"), shrnk=2)
    with pytest.raises(InputError, match="data set 'digits' takes no options, and was given 'shrink'"):
        aw.data.load("digits", shrink=2)


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    folder = stored(tmp_path, "trec")
    (folder / "trec" / "TREC_10.label").unlink()
    with pytest.raises(CorruptError, match=r"trec in .* lacks TREC_10\.label"):
        aw.data.load("trec", data_dir=folder)


def test_a_uci_table_has_both_names(tmp_path):
    folder = stored(tmp_path, "uci/yacht")
    assert torch.equal(aw.data.uci("yacht", data_dir=folder).x, aw.data.uci("uci/yacht", data_dir=folder).x)
    with pytest.raises(InputError, match="unknown UCI table 'uci/yatch'; did you mean 'uci/yacht'"):
        aw.data.uci("yatch", data_dir=folder)


def test_the_published_sets_have_their_published_counts(monkeypatch):
    monkeypatch.undo()
    for name in ("mnist", "fashion_mnist"):
        kind = catalogue.STORED[name]
        assert (kind.train, kind.test, kind.side, len(kind.classes), len(kind.digests)) == (
            60_000, 10_000, 28, 10, 4,
        )  # fmt: skip
    cifar = catalogue.STORED["cifar10"]
    assert cifar.rows * len(cifar.train_pictures) == 50_000
    assert len(cifar.classes) == 10
    counts = {name: sum(catalogue.STORED[name].counts.values()) for name in ("camvid", "goemotions", "trec")}
    assert counts == {"camvid": 701, "goemotions": 54_263, "trec": 5_952}
    classes = {name: len(kind.classes) for name, kind in catalogue.STORED.items() if "/" not in name}
    assert classes == {
        "mnist": 10, "fashion_mnist": 10, "cifar10": 10, "isic2016": 2,
        "camvid": 11, "goemotions": 28, "xed": 8, "trec": 6,
    }  # fmt: skip
    uci = [kind for name, kind in catalogue.STORED.items() if name.startswith("uci/")]
    assert len(uci) == 9
    assert [kind.name for kind in uci if kind.splits != 20] == ["uci/protein-tertiary-structure"]
