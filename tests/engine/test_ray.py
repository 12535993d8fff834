"""What the engine on Ray refuses before it starts anything; the rest is in test_ray_cluster.py."""

import pytest

from askwise.engine import open_engine
from askwise.errors import EngineError, InputError

ray = pytest.importorskip("ray")


@pytest.mark.parametrize("version", ["2.51.2", "2.9.3", "1.13.0", "2.51.0rc1"])
def test_a_ray_with_the_hole_is_refused(monkeypatch, version):
    monkeypatch.setattr(ray, "__version__", version)
    with pytest.raises(InputError, match=rf"Ray {version} .* askwise wants 2\.52 or newer") as told:
        open_engine("ray")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("version", ["2.52.0", "2.60.0", "3.0.0.dev0", "10.1"])
def test_a_newer_ray_is_taken(monkeypatch, version):
    monkeypatch.setattr(ray, "__version__", version)
    assert open_engine("ray", workers=3).workers == 3


def test_without_a_number_there_is_a_worker_for_each_core_and_nothing_is_started():
    assert open_engine("ray", threads=1).workers == open_engine("local").workers
    assert not ray.is_initialized()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers must be a whole number of at least 1"),
        ({"threads": 0}, "threads must be a whole number of at least 1"),
        ({"address": ""}, "address must be that of a Ray cluster"),
        ({"adress": "x"}, "unknown option of engine 'ray' 'adress'; did you mean 'address'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        open_engine("ray", **options)


def test_a_machine_that_would_compute_other_bits_is_refused_by_what_differs():
    from askwise.engine.ray import _check_conditions, _conditions

    _check_conditions(_conditions())
    for name in _conditions():
        with pytest.raises(
            EngineError, match=f"a machine of the cluster has {name} .*, and the caller other"
        ):
            _check_conditions(_conditions() | {name: "other"})
