from pathlib import Path

import pytest

from askwise.data.places import cache, locate
from askwise.errors import CorruptError, InputError


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ASKWISE_DATA", raising=False)


def put(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_bytes(b"")
    return folder


def test_the_cache_follows_xdg_and_else_lies_in_the_home_folder(tmp_path, monkeypatch):
    assert cache() == tmp_path / "cache" / "askwise"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache() == tmp_path / ".cache" / "askwise"


def test_the_variable_goes_before_the_cache(tmp_path, monkeypatch):
    cached = put(cache() / "mnist", "a", "b.gz")
    assert locate("mnist", ["a", "b"]) == cached
    monkeypatch.setenv("ASKWISE_DATA", str(tmp_path))
    assert locate("mnist", ["a", "b"]) == cached  # nothing there: the cache is next
    assert locate("mnist", ["a", "b"]) != put(tmp_path / "mnist", "a", "b")
    assert locate("mnist", ["a", "b"]) == tmp_path / "mnist"


def test_a_named_folder_is_the_only_place(tmp_path):
    put(cache() / "mnist", "a")
    with pytest.raises(InputError, match="mnist is not here"):
        locate("mnist", ["a"], data_dir=tmp_path / "other")


def test_a_hyphen_in_the_folder_does(tmp_path):
    folder = put(tmp_path / "fashion-mnist", "a")
    assert locate("fashion_mnist", ["a"], data_dir=tmp_path) == folder


def test_missing_data_says_what_to_do():
    wanted = (
        "mnist is not here; fetch it with: askwise data fetch mnist, or point to a folder with --data DIR"
    )
    with pytest.raises(InputError, match=wanted):
        locate("mnist", ["a"])


def test_data_that_no_package_holds_says_where_to_put_it():
    with pytest.raises(
        InputError, match="no package holds it: put a, b into DIR/uci and point to it with --data"
    ):
        locate("uci/yacht", ["a", "b"], packaged=False)


def test_a_name_with_a_slash_lies_in_the_folder_of_its_first_part(tmp_path):
    folder = put(tmp_path / "uci", "yacht.npz")
    assert locate("uci/yacht", ["yacht.npz"], data_dir=tmp_path) == folder


def test_a_part_of_the_files_is_not_mistaken_for_all(tmp_path):
    put(tmp_path / "mnist", "a")
    with pytest.raises(CorruptError, match=r"mnist in .* lacks b, c"):
        locate("mnist", ["a", "b", "c"], data_dir=tmp_path)
