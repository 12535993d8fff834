"""One suite over every selection in the table: to add one is to pass this."""

import inspect
import warnings

import brute_force
import pytest
import torch

from askwise.selection import SELECTIONS, SaturationWarning, select

N, COUNT = 40, 6
pytestmark = pytest.mark.filterwarnings("ignore::askwise.selection.SaturationWarning")


def inputs(name, *, seed=0, dtype=torch.float64, duplicates=False, n=N):
    """The inputs one selection needs; with duplicates, every item is there four times."""
    rng = torch.Generator().manual_seed(seed)
    made = {
        "scores": torch.rand(n, dtype=torch.float64, generator=rng),
        "log_probs": brute_force.predictions(n, 8, 3, seed=seed, certain=0.2),
        "moments": torch.randn(n, 8, 2, 2, dtype=torch.float64, generator=rng),
        "features": torch.randn(n, 5, dtype=torch.float64, generator=rng),
    }
    if duplicates:
        made = {key: value[torch.arange(n) % (n // 4)] for key, value in made.items()}
    return {key: made[key].to(dtype) for key in SELECTIONS[name].needs}


@pytest.fixture(params=[False, True], ids=["distinct", "duplicates"])
def duplicates(request):
    return request.param


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", SELECTIONS)
def test_picks_are_distinct_positions_as_many_as_asked(name, dtype, duplicates):
    for count in (1, COUNT, N):
        found = select(name, count=count, **inputs(name, dtype=dtype, duplicates=duplicates))
        assert found.dtype == torch.int64
        assert found.shape == (count,)
        assert len(set(found.tolist())) == count
        assert min(found) >= 0
        assert max(found) < N


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", SELECTIONS)
def test_a_shuffled_pool_gives_the_same_items_in_the_same_order(name, dtype, duplicates):
    for seed in range(5):
        given = inputs(name, seed=seed, dtype=dtype, duplicates=duplicates)
        ids = [f"item-{i}" for i in range(N)]
        order = torch.randperm(N, generator=torch.Generator().manual_seed(seed + 100))
        turned = {key: value[order] for key, value in given.items()}
        turned_ids = [ids[i] for i in order]
        found = [ids[i] for i in select(name, count=COUNT, seed=seed, ids=ids, **given)]
        again = [turned_ids[i] for i in select(name, count=COUNT, seed=seed, ids=turned_ids, **turned)]
        assert found == again


@pytest.mark.parametrize("name", SELECTIONS)
def test_ties_do_not_favour_what_comes_first(name):
    """All items are equal: over many seeds the early half must not win."""
    given = {key: value[:1].expand(20, *value.shape[1:]) for key, value in inputs(name).items()}
    early = sum(select(name, count=1, seed=seed, **given).item() < 10 for seed in range(60))
    assert 15 < early < 45


# The number of typiclust's clusters follows the number of picks.
@pytest.mark.parametrize("name", [name for name in SELECTIONS if name != "typiclust"])
def test_a_smaller_batch_is_the_beginning_of_a_larger_one(name):
    given = inputs(name)
    larger = select(name, count=COUNT, **given)
    assert torch.equal(select(name, count=3, **given), larger[:3])


@pytest.mark.parametrize("name", SELECTIONS)
def test_nothing_around_is_touched_and_the_answer_repeats(name):
    given = inputs(name)
    copies = {key: value.clone() for key, value in given.items()}
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = select(name, count=COUNT, seed=7, **given)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(given[key], copies[key]) for key in given)
    torch.manual_seed(2)
    assert torch.equal(select(name, count=COUNT, seed=7, **given), first)


@pytest.mark.parametrize("name", SELECTIONS)
def test_memory_layout_does_not_matter(name):
    given = inputs(name)
    turned = {key: value.movedim(0, -1).contiguous().movedim(-1, 0) for key, value in given.items()}
    assert torch.equal(select(name, count=COUNT, **turned), select(name, count=COUNT, **given))


@pytest.mark.parametrize("name", SELECTIONS)
def test_a_function_takes_what_its_record_says(name):
    selection = SELECTIONS[name]
    parameters = inspect.signature(selection.function).parameters.values()
    positional = tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)
    assert positional == selection.needs
    assert {"count", "seed", "ids"} <= {p.name for p in parameters}


def test_the_warning_can_be_silenced_by_name():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SaturationWarning)
        select("batchbald", count=9, log_probs=brute_force.predictions(20, 3, 4, certain=1.0))
