import pytest
from tiny_data import idx_contents, idx_set, png_contents, png_set, put

import askwise as aw
from askwise.data import catalogue
from askwise.errors import CorruptError, InputError


@pytest.fixture(autouse=True)
def _small_sets(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ASKWISE_DATA", raising=False)
    small = {"mnist": idx_set(idx_contents()), "cifar10": png_set(png_contents())}
    monkeypatch.setattr(catalogue, "STORED", small)


def test_digits_need_no_folder():
    assert len(aw.data.load("digits").train_y) == 1201


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_a_folder_is_read_as_it_is(tmp_path, name):
    contents = idx_contents() if name == "mnist" else png_contents()
    put(tmp_path / name, contents, packed=name == "mnist")
    data = aw.data.load(name, data_dir=tmp_path)
    assert data.name == name
    assert len(data.train_x) == len(data.train_y) == len(data.train_ids) == len(set(data.train_ids))
    assert data.test_ids[0] == f"{name}-test-00000"
    assert 0 <= data.train_x.min() < data.train_x.max() <= 1


def test_damage_says_how_to_get_a_good_copy(tmp_path):
    contents = idx_contents()
    put(tmp_path / "mnist", {name: content[:-1] for name, content in contents.items()})
    with pytest.raises(CorruptError, match=r"cut off.*; fetch it again with: askwise data fetch mnist"):
        aw.data.load("mnist", data_dir=tmp_path)


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="unknown data set 'mnits'; did you mean 'mnist'"):
        aw.data.load("mnits")


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
