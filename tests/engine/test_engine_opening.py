"""Engines by name."""

import importlib.util
import subprocess
import sys
from contextlib import nullcontext

import pytest

from askwise.engine import ENGINES, Local, kept, open_engine
from askwise.errors import InputError


def test_nothing_is_all_cores_here():
    assert open_engine() == open_engine(None) == open_engine("local") == Local()


def test_options_go_with_the_name():
    assert open_engine("local", processes=2) == Local(2)


def test_an_engine_is_taken_as_it_is():
    engine = Local(3)
    assert open_engine(engine) is engine
    with pytest.raises(InputError, match="options go with the name of an engine"):
        open_engine(engine, processes=2)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("locl", {}, "unknown engine 'locl'; did you mean 'local'"),
        ("spark", {}, "choose one of: local, ray"),
        ("local", {"process": 2}, "unknown option of engine 'local' 'process'; did you mean 'processes'"),
        ("local", {"name": "x"}, "unknown option of engine 'local' 'name'"),
        ("local", {"processes": 0}, "processes must be a whole number of at least 1, not 0"),
    ],
)
def test_what_is_not_known_is_refused_by_name(name, options, message):
    with pytest.raises(InputError, match=message):
        open_engine(name, **options)


def test_an_engine_that_starts_nothing_has_nothing_to_keep():
    assert isinstance(kept(Local()), nullcontext)


def test_a_missing_ray_is_told_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not there
    for name in ("askwise.engine.ray", "askwise.engine.ray_session"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(InputError, match=r"needs Ray; install it with: pip install 'askwise\[ray\]'$"):
        open_engine("ray")


def test_ray_is_not_imported_before_it_is_wanted():
    there = importlib.util.find_spec("ray") is not None
    code = "import sys, askwise.loop, askwise.engine, askwise.cli; print('ray' in sys.modules)"
    if there:  # the control
        code += "; askwise.engine.open_engine('ray'); print('ray' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "True"][: 1 + there]


def test_every_engine_has_a_name():
    assert list(ENGINES) == ["local", "ray"]


def test_a_run_that_is_a_shard_itself_starts_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("askwise.engine.worker.inside", True)
    for name in ("local", "ray"):
        found = open_engine(name)
        assert isinstance(found, Local)
        assert found.workers == 1
