import io
import shutil
import tarfile
import zipfile

import pytest
from tiny_data import digest, tarball

from askwise.data import commands, packages
from askwise.data.packages import Package, members
from askwise.errors import CorruptError


def zipped(contents: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        for name, content in contents.items():
            packed.writestr(name, content)
    return stream.getvalue()


@pytest.fixture(params=[".tgz", ".whl"])
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
def test_a_debian_package_is_read(tmp_path):
    control = tmp_path / "tree" / "DEBIAN" / "control"
    control.parent.mkdir(parents=True)
    control.write_text(
        "Package: tiny\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: tiny\n"
    )
    (tmp_path / "tree" / "usr").mkdir()
    (tmp_path / "tree" / "usr" / "a").write_bytes(b"alpha")
    commands.run(["dpkg-deb", "--build", "tree", "tiny.deb"], folder=tmp_path)
    assert members(tmp_path / "tiny.deb", ["usr/a"], limit=10) == {"usr/a": b"alpha"}


def bring(monkeypatch, content: bytes, *names: str) -> list[list[str]]:
    """Lets every package tool bring these files; returns the commands it will have been given."""
    asked: list[list[str]] = []

    def run(command, *, folder, output=None):
        asked.append(list(command))
        for name in names:
            (folder / name).write_bytes(content)

    monkeypatch.setattr(packages.commands, "run", run)
    return asked


def test_a_package_with_its_checksum_is_taken(tmp_path, monkeypatch):
    asked = bring(monkeypatch, b"archive", "a.tgz", "notes.txt")
    package = Package(tool="npm", name="a", version="1.0", digest=digest(b"archive"))
    assert package.download(tmp_path) == tmp_path / "a.tgz"
    assert asked[0][-1] == "a@1.0"


def test_a_package_with_another_checksum_is_refused(tmp_path, monkeypatch):
    bring(monkeypatch, b"tampered", "a.whl")
    package = Package(tool="pip", name="a", version="1.0", digest=digest(b"archive"))
    with pytest.raises(CorruptError, match=r"a 1\.0 as pip brought it is not the published package"):
        package.download(tmp_path)


@pytest.mark.parametrize("names", [(), ("a.deb", "b.deb")])
def test_no_archive_or_two_are_refused(tmp_path, monkeypatch, names):
    bring(monkeypatch, b"archive", *names)
    with pytest.raises(commands.ToolError, match=f"apt-get brought {len(names)} files .deb, not one"):
        Package(tool="apt-get", name="a").download(tmp_path)


def test_pip_takes_wheels_without_what_they_depend_on():
    command = Package(tool="pip", name="a", version="1.0")._command()
    assert {"--no-deps", "--only-binary=:all:", "a==1.0"} <= set(command)
