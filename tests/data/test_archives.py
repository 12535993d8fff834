import shutil
import tarfile
from pathlib import Path

import pytest
from tiny_data import tarball, zipped

from askwise.data import commands
from askwise.data.archives import members, names
from askwise.errors import CorruptError


@pytest.fixture(params=[".tgz", ".whl", ".zip"])
def archive(request, tmp_path):
    contents = {"package/a": b"alpha", "package/b": b"beta", "../../evil": b"evil"}
    path = tmp_path / f"some{request.param}"
    path.write_bytes(tarball(contents) if request.param == ".tgz" else zipped(contents))
    return path


def test_only_the_wanted_members_are_read(archive):
    assert members(archive, ["package/a"], limit=10) == {"package/a": b"alpha"}


def test_nothing_is_written_beside_the_archive(archive):
    members(archive, ["package/a", "../../evil"], limit=10)
    assert list(archive.parent.iterdir()) == [archive]


def test_a_missing_member_is_named(archive):
    with pytest.raises(CorruptError, match=f"{archive.name} has no package/c"):
        members(archive, ["package/a", "package/c"], limit=10)


def test_a_member_above_the_limit_is_refused(archive):
    with pytest.raises(CorruptError, match=r"package/a in .* has 5 bytes, more than the 4 allowed"):
        members(archive, ["package/a"], limit=4)


@pytest.mark.parametrize("keep", [0, 30, 100])
def test_half_an_archive_is_refused(archive, keep):
    archive.write_bytes(archive.read_bytes()[:keep])
    with pytest.raises(CorruptError, match=f"{archive.name} is not a whole archive"):
        members(archive, ["package/b"], limit=10)


def test_a_link_is_no_file(tmp_path):
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        link = tarfile.TarInfo("package/a")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    with pytest.raises(CorruptError, match=r"a\.tgz has no package/a"):
        members(tmp_path / "a.tgz", ["package/a"], limit=10_000)


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb makes and reads Debian packages")
def test_a_debian_package_is_read(tmp_path, monkeypatch):
    control = tmp_path / "tree" / "DEBIAN" / "control"
    control.parent.mkdir(parents=True)
    control.write_text(
        "Package: tiny\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: tiny\n"
    )
    (tmp_path / "tree" / "usr").mkdir()
    (tmp_path / "tree" / "usr" / "a").write_bytes(b"alpha")
    commands.run(["dpkg-deb", "--build", "tree", "tiny.deb"], folder=tmp_path)
    assert members(tmp_path / "tiny.deb", ["usr/a"], limit=10) == {"usr/a": b"alpha"}
    monkeypatch.chdir(tmp_path.parent)  # a folder may be named from where one stands
    near = Path(tmp_path.name) / "tiny.deb"
    assert members(near, ["usr/a"], limit=10) == {"usr/a": b"alpha"}


def test_a_zip_tells_its_files_and_not_its_folders(tmp_path):
    (tmp_path / "a.zip").write_bytes(zipped({"folder/": b"", "folder/a": b"alpha"}))
    assert names(tmp_path / "a.zip") == ["folder/a"]


def test_what_is_no_zip_tells_nothing(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"no zip")
    with pytest.raises(CorruptError, match=r"a\.zip is not a whole archive"):
        names(tmp_path / "a.zip")


def test_a_member_whose_bytes_were_changed_is_refused(tmp_path):
    content = zipped({"a": b"alpha"})
    (tmp_path / "a.zip").write_bytes(content.replace(b"alpha", b"alphb"))
    with pytest.raises(CorruptError, match=r"a\.zip is not a whole archive: Bad CRC"):
        members(tmp_path / "a.zip", ["a"], limit=10)


def test_of_many_missing_members_a_few_are_named(tmp_path):
    (tmp_path / "a.zip").write_bytes(zipped({}))
    with pytest.raises(CorruptError, match=r"a\.zip has no 0, 1, 2 and 7 more$"):
        members(tmp_path / "a.zip", [str(number) for number in range(10)], limit=10)
