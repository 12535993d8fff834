"""One exam for every engine: order, equal bits, few results at a time, errors told, deaths survived."""

import itertools
import os
import signal
import time

import pytest
import torch
from descendants import descendants, gone

import askwise as aw
from askwise.engine import ENGINES, Engine, Local, ShardResult, Work, kept, open_engine, remembered
from askwise.errors import EngineError, InputError
from askwise.train import Training


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("ray")
    engine = open_engine("ray", workers=2)
    with kept(engine):
        yield engine


MAKERS = {
    "local 1": lambda request: Local(1),
    "local 2": lambda request: Local(2),
    "local 3": lambda request: Local(3),
    "remembered": lambda request: remembered(Local(2), request.getfixturevalue("tmp_path"), "job"),
    "ray": lambda request: request.getfixturevalue("cluster"),
}
HERE = ["local 1", "local 2", "local 3", "remembered"]
RAY = pytest.param("ray", marks=pytest.mark.slow)  # a cluster takes seconds to start, and so do its workers


@pytest.fixture(params=[*HERE, RAY])
def engine(request):
    return MAKERS[request.param](request)


@pytest.fixture(params=["local 2", "local 3", "remembered", RAY])  # the work is done by other processes
def apart(request):
    return MAKERS[request.param](request)


def doing(compute, fetch=lambda shard: shard):
    """A factory of work that does this with every shard."""
    return lambda: Work(fetch, compute)


def number(shard):
    return ShardResult((torch.tensor(shard),), {"pid": os.getpid(), "threads": torch.get_num_threads()})


def killer(marker, at, *, times):
    """Work whose worker is killed so many times at one shard."""

    def compute(shard):
        deaths = len(list(marker.iterdir()))
        if shard == [at] and deaths < times:
            (marker / str(deaths)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number(shard)

    return doing(compute)


def numbers(found):
    return [one.tensors[0].item() for one in found]


def test_it_is_an_engine_with_a_name_that_a_plan_can_give(engine):
    assert isinstance(engine, Engine)
    assert engine.name in ENGINES
    assert engine.threads == 1
    assert engine.workers >= 1


def test_results_come_in_the_order_of_the_shards(engine):
    def compute(shard):
        time.sleep(0.05 if shard[0] % 3 == 0 else 0)  # later ones are done earlier
        return number(shard)

    assert numbers(engine.map(doing(compute), ([at] for at in range(20)))) == list(range(20))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_shards_are_as_good_as_many(engine, count):
    assert numbers(engine.map(doing(number), [[at] for at in range(count)])) == list(range(count))


def test_tensors_and_notes_arrive_as_they_were(engine):
    tensors = (
        torch.tensor([float("nan"), float("-inf"), -0.0]),
        torch.arange(6).reshape(2, 3).T,
        torch.empty(0, 4, dtype=torch.float64),
        torch.tensor(True),
    )
    notes = {"bad": {"a\n\u00e9": "why"}, "list": [1, 2.5, None]}
    for found in engine.map(doing(lambda shard: ShardResult(tensors, notes)), [[0], [1]]):
        assert found.notes == notes
        for one, other in zip(found.tensors, tensors, strict=True):
            assert one.dtype == other.dtype
            assert torch.equal(one.nan_to_num(7), other.nan_to_num(7))


@pytest.fixture(scope="module")
def gal(tmp_path_factory):
    """Gal's CNN with dropout, items, and their scores computed in this process."""
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(160, 1, 28, 28, generator=rng)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = aw.nets.gal_cnn()
    data = (x[:32], torch.arange(32) % 10)
    fitted = aw.fit(network, data, posterior=aw.mc_dropout(), training=Training(epochs=1, batch_size=16))
    home = tmp_path_factory.mktemp("gal") / "model"
    fitted.save(home)
    return home, x, aw.score_pool(fitted, x, "bald", draws=8, seed=1, engine=Local(1))


def test_the_bits_are_the_same_on_any_engine(engine, gal):
    home, x, expected = gal

    def make():
        fitted = aw.load(home)
        return Work(
            lambda shard: x[shard[0] : shard[1]],
            lambda items: ShardResult((aw.score_pool(fitted, items, "bald", draws=8, seed=1),)),
        )

    shards = [[at, min(at + 30, 160)] for at in range(0, 160, 30)]
    found = torch.cat([one.tensors[0] for one in engine.map(make, shards)])
    assert expected.unique().numel() > 100
    assert found.numpy().tobytes() == expected.numpy().tobytes()


@pytest.mark.parametrize("name", HERE)  # for Ray see tests/engine/test_ray_cluster.py
def test_a_pool_is_scored_through_it(request, name, gal):
    home, x, expected = gal
    engine = MAKERS[name](request)
    found = aw.score_pool(aw.load(home), x, "bald", draws=8, seed=1, engine=engine)
    assert found.numpy().tobytes() == expected.numpy().tobytes()


def test_shards_are_taken_as_they_are_needed(engine):
    taken = []

    def shards():
        for at in itertools.count():
            taken.append(at)
            yield [at]

    results = engine.map(doing(number), shards())
    for wanted in range(5):
        assert numbers([next(results)]) == [wanted]
        assert len(taken) <= wanted + 2 + 4 * engine.workers
    results.close()


@pytest.mark.parametrize("where", ["make", "fetch", "compute"])
def test_an_error_of_ours_is_raised_as_it_was(engine, where):
    def fail(*_):
        raise InputError("the item 7 is upside down; turn it")

    make = {"make": lambda: fail, "fetch": lambda: doing(number, fail), "compute": lambda: doing(fail)}
    with pytest.raises(InputError, match=r"^the item 7 is upside down; turn it$"):
        list(engine.map(make[where](), [[at] for at in range(6)]))


def test_any_other_error_is_told_by_its_name_and_message(engine):
    def compute(shard):
        if shard == [4]:
            raise KeyError("colour")
        return number(shard)

    results = engine.map(doing(compute), [[at] for at in range(9)])
    with pytest.raises((EngineError, KeyError), match="colour") as told:
        list(results)
    assert told.type is KeyError or "KeyError" in str(told.value)


def test_a_worker_that_dies_costs_time_and_no_result(apart, tmp_path):
    marker = tmp_path / "deaths"
    marker.mkdir()
    found = list(apart.map(killer(marker, 5, times=1), [[at] for at in range(12)]))
    assert numbers(found) == list(range(12))
    assert len(list(marker.iterdir())) == 1


def test_a_shard_that_kills_every_worker_is_told_in_a_line(apart, tmp_path):
    marker = tmp_path / "deaths"
    marker.mkdir()
    with pytest.raises(EngineError, match="workers died at the same items") as told:
        list(apart.map(killer(marker, 5, times=100), [[at] for at in range(12)]))
    assert "\n" not in str(told.value)
    assert 2 <= len(list(marker.iterdir())) <= 6


@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("ending", ["success", "error", "abandoned"])
def test_no_process_outlives_the_call(request, name, ending, tmp_path):
    before, taken = descendants(), tmp_path / "taken"

    def compute(shard):
        if shard == [7] and ending == "error":
            while not taken.exists():  # an error is told at once, and the first result is to be taken before
                time.sleep(0.01)
            raise InputError("seven")
        return number(shard)

    results = MAKERS[name](request).map(doing(compute), [[at] for at in range(16)])
    next(results)
    taken.touch()
    during = descendants() - before
    assert name == "local 1" or during
    if ending == "error":
        with pytest.raises(InputError):
            list(results)
    elif ending == "success":
        list(results)
    else:
        results.close()
    assert gone(during, seconds=0)
    assert descendants() <= before


def test_a_shard_is_computed_with_one_thread_and_the_caller_keeps_his(engine):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        found = list(engine.map(doing(number), [[at] for at in range(4)]))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert [one.notes["threads"] for one in found] == [1] * 4


def test_the_work_is_done_elsewhere_and_starts_no_processes_of_its_own(apart):
    found = list(
        apart.map(doing(lambda s: ShardResult((), {"pid": os.getpid(), "n": Local(4).workers})), [[0], [1]])
    )
    assert os.getpid() not in {one.notes["pid"] for one in found}
    assert [one.notes["n"] for one in found] == [1, 1]
