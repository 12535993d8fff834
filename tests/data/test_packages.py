import pytest
from tiny_data import digest

from askwise.data import commands, packages
from askwise.data.packages import Package
from askwise.errors import CorruptError


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
