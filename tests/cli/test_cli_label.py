"""`askwise label` says what it wants before it serves anything."""

import pytest

from askwise.web.demo import demo_project


def test_a_project_must_be_named(askwise):
    code, _, said = askwise("label")
    assert code == 2
    assert "askwise label --demo" in said


def test_what_is_no_project_is_refused(askwise, tmp_path):
    code, _, said = askwise("label", tmp_path)
    assert code == 2
    assert "is no project" in said


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.1"])  # noqa: S104
def test_another_host_is_refused_without_people(askwise, tmp_path, host):
    project = demo_project(tmp_path / "demo")
    code, _, said = askwise("label", project.folder, "--host", host)
    assert code == 2
    assert "TLS" in said


def test_a_port_in_use_is_refused_by_its_number(askwise, tmp_path):
    import socket

    project = demo_project(tmp_path / "demo")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, said = askwise("label", project.folder, "--port", port, "--no-browser")
    assert code == 2
    assert f"port {port}" in said


def test_the_demo_has_real_pictures_and_is_made_once(tmp_path):
    from askwise.web.desk import Desk

    first = demo_project(tmp_path / "demo")
    text = first.plan.read_text()
    assert demo_project(tmp_path / "demo") == first
    desk = Desk(first)
    try:
        assert desk.media.kind == "image"
        assert desk.counts().items == 1201
        assert desk.media.picture(next(iter(desk.pool.ids)), largest=512)[8:12] == b"WEBP"
    finally:
        desk.close()
    assert first.plan.read_text() == text
