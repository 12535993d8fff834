"""A real cluster on one machine: workers, machines and the driver die, and the bits are the same."""

import os
import signal
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from descendants import descendants, gone

from askwise.engine import ShardResult, Work, kept, open_engine
from askwise.errors import EngineError, InputError

ray = pytest.importorskip("ray")
from askwise.engine import ray_session  # noqa: E402 - only where there is Ray

DRIVER = Path(__file__).with_name("ray_driver.py")
COUNT = 16  # shards of the driver
PATIENCE = 200  # seconds
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "5" * 64}

pytestmark = [
    pytest.mark.slow,
    # Ray leaves pipes of the processes that it has ended to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    """A head without cores, which the drivers talk to, and two machines of one core."""
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 100 * 2**20, "include_dashboard": False}
    quick = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (TOKEN | {"RAY_USAGE_STATS_ENABLED": "0"}).items():
            patch.setenv(name, value)
        ray_session._forget_token()
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": quick, **small})
        made.nodes = [made.add_node(num_cpus=1, **small) for _ in range(2)]
        yield made
        made.shutdown()
    ray_session._forget_token()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The scores, computed without a cluster."""
    folder = tmp_path_factory.mktemp("local")
    run(folder, "local", "local", "-")
    assert len(log(folder, "local", "begun")) == COUNT
    return (folder / "local.scores").read_bytes()


@contextmanager
def started(folder, name, kind, address, *, pause=0.4):
    command = [sys.executable, DRIVER, folder, name, kind, address, str(pause)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        try:
            yield driver
        finally:
            driver.kill()  # where a test has failed before its end


def run(folder, name, kind, address):
    with started(folder, name, kind, address) as driver:
        finished(driver)


def finished(driver):
    driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 0


def log(folder, name, word):
    """The other words of the log's lines that begin with this one."""
    lines = (folder / f"{name}.log").read_text().splitlines()
    return [line.split()[1:] for line in lines if line.split()[0] == word]


def wait_for(driver, results):
    while int(driver.stdout.readline()) < results:
        pass


def test_on_two_machines_the_bits_are_the_same(cluster, expected, tmp_path):
    run(tmp_path, "calm", "ray", cluster.address)
    assert (tmp_path / "calm.scores").read_bytes() == expected
    begun = log(tmp_path, "calm", "begun")
    assert len(begun) == COUNT  # nothing twice
    assert len({pid for _, pid, _ in begun}) >= 2


def test_a_pool_is_scored_on_a_cluster(cluster, expected, tmp_path):
    run(tmp_path, "pool", "pool", cluster.address)
    assert (tmp_path / "pool.scores").read_bytes() == expected


def test_a_worker_killed_in_the_middle_costs_time_only(cluster, expected, tmp_path):
    with started(tmp_path, "killed", "ray", cluster.address) as driver:
        wait_for(driver, 3)
        os.kill(int(log(tmp_path, "killed", "begun")[-1][1]), signal.SIGKILL)
        finished(driver)
    assert (tmp_path / "killed.scores").read_bytes() == expected
    assert len(log(tmp_path, "killed", "begun")) > COUNT  # it was at work when it died


def test_a_driver_killed_in_the_middle_computes_only_what_is_missing(cluster, expected, tmp_path):
    with started(tmp_path, "first", "journal", cluster.address) as driver:
        wait_for(driver, 5)
        driver.kill()
    assert not (tmp_path / "first.scores").exists()
    kept_there = frames(tmp_path / "journal" / "job.shards")
    assert 5 <= kept_there < COUNT
    run(tmp_path, "second", "journal", cluster.address)
    assert (tmp_path / "second.scores").read_bytes() == expected
    assert len(log(tmp_path, "second", "begun")) == COUNT - kept_there
    assert not (tmp_path / "journal").exists()
    run(tmp_path, "third", "journal", cluster.address)  # the control: nothing is known any more
    assert len(log(tmp_path, "third", "begun")) == COUNT


def frames(path):
    """How many results a journal holds."""
    content, at, count = path.read_bytes(), 0, 0
    while at < len(content):
        at += 72 + struct.unpack_from("<Q", content, at)[0]
        count += 1
    return count - (at > len(content))


def test_without_its_token_nobody_gets_in(cluster, tmp_path):
    code = "import sys, ray; ray.init(address=sys.argv[1], logging_level='ERROR'); print('in')"
    for token, inside in ((TOKEN["RAY_AUTH_TOKEN"], True), ("6" * 64, False)):
        found = subprocess.run(
            [sys.executable, "-c", code, cluster.address],
            env=os.environ | {"RAY_AUTH_TOKEN": token},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert ("in\n" in found.stdout) == inside, found.stderr


def test_a_machine_lost_in_the_middle_costs_time_only(cluster, expected, tmp_path):
    lost = cluster.nodes.pop()
    (raylet,) = lost.all_processes["raylet"]
    with started(tmp_path, "lost", "ray", cluster.address, pause=1) as driver:
        wait_for(driver, 3)
        end = time.monotonic() + 60
        while not at_work(tmp_path, lost.node_id):
            assert time.monotonic() < end
            time.sleep(0.05)
        for pid in {raylet.process.pid, *descendants(raylet.process.pid)}:  # all at once, as without power
            os.kill(pid, signal.SIGKILL)
        cluster.remove_node(lost, allow_graceful=False)
        finished(driver)
    assert (tmp_path / "lost.scores").read_bytes() == expected
    begun = log(tmp_path, "lost", "begun")
    assert {node for *_, node in begun} >= {lost.node_id, cluster.nodes[0].node_id}
    assert len(begun) > COUNT  # it was at work when it went


def at_work(folder, machine):
    """Whether a machine has begun a shard and has not finished it."""
    done = {shard for (shard,) in log(folder, "lost", "done")}
    return any(node == machine and shard not in done for shard, _, node in log(folder, "lost", "begun"))


def number(shard):
    return ShardResult((), {"at": shard[0]})


def failing(shard):
    if shard == [3]:
        raise InputError("three")
    return number(shard)


@pytest.mark.parametrize("ending", ["success", "error", "abandoned"])
def test_a_cluster_of_our_own_leaves_nothing_behind(ending):
    environment, handler, before = dict(os.environ), signal.getsignal(signal.SIGTERM), descendants()
    folders = set(Path("/tmp/ray").glob("session_2*"))  # noqa: S108 - Ray's own
    work = Work(lambda shard: shard, failing if ending == "error" else number)
    results = open_engine("ray", workers=2).map(lambda: work, [[at] for at in range(6)])
    assert next(results).notes == {"at": 0}
    during = descendants() - before
    assert len(during) > 4
    assert dict(os.environ) == environment
    if ending == "error":
        with pytest.raises(InputError, match="three"):
            list(results)
    elif ending == "success":
        assert [one.notes["at"] for one in results] == [1, 2, 3, 4, 5]
    else:
        results.close()
    assert gone(during)
    assert not ray.is_initialized()
    assert dict(os.environ) == environment
    assert signal.getsignal(signal.SIGTERM) is handler
    assert set(Path("/tmp/ray").glob("session_2*")) <= folders  # noqa: S108


def test_a_cluster_of_our_own_is_closed_and_kept_for_a_block():
    engine = open_engine("ray", workers=1)

    def make():
        return Work(lambda shard: shard, lambda _: ShardResult((), {"pid": os.getpid(), **settings()}))

    def settings():
        wanted = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED")
        return {name: os.environ.get(name) for name in wanted}

    with kept(engine):
        first, second = (next(engine.map(make, [[0]])).notes for _ in range(2))
        assert open_engine("ray").workers == 1  # as many as that cluster has room for
        assert ray.get_runtime_context().gcs_address
        assert ray._private.worker.global_worker.node.webui_url in ("", None)  # no dashboard
        with pytest.raises(InputError, match="is connected to the Ray cluster at"):
            next(open_engine("ray", address="10.1.2.3:6379").map(make, [[0]]))
        with pytest.raises(InputError, match="threads=8 wants a machine with as many cores"):
            next(open_engine("ray", threads=8).map(make, [[0]]))
    assert first["pid"] == second["pid"]
    assert first["RAY_AUTH_MODE"] == "token"
    assert len(first["RAY_AUTH_TOKEN"]) == 64
    assert first["RAY_USAGE_STATS_ENABLED"] == "0"
    third = next(engine.map(make, [[0]])).notes
    assert third["pid"] != first["pid"]
    assert third["RAY_AUTH_TOKEN"] != first["RAY_AUTH_TOKEN"]


def test_a_cluster_that_is_not_there_is_told_in_a_line():
    with pytest.raises(EngineError, match=r"could not be reached at 127\.0\.0\.1:1: ") as told:
        next(open_engine("ray", address="127.0.0.1:1").map(lambda: None, [[0]]))
    assert "\n" not in str(told.value)
