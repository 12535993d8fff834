"""One suite over every acquisition in the table: to add one is to pass this."""

import inspect
import math

import brute_force
import pytest
import torch

from askwise.acquire import ACQUISITIONS, score

SHAPES = [(6, 5, 4), (6, 1, 4), (6, 5, 3, 2), (4, 5, 3, 2, 4), (1, 5, 4), (0, 5, 4)]
PREDICTING = [name for name, acquisition in ACQUISITIONS.items() if acquisition.needs != "ids"]
OF_NUMBERS = [name for name, acquisition in ACQUISITIONS.items() if acquisition.needs == "moments"]


def moments(items, draws, numbers, *, seed=0, dtype=torch.float64):
    """Means and log-variances at random."""
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(items, draws, numbers, 2, generator=rng, dtype=torch.float64).to(dtype)


def inputs(name, shape, *, seed=0, certain=0.3, dtype=torch.float64):
    """The arguments of `score` for one acquisition, made for what it needs: classes, or numbers.

    Of numbers an item has as many as the shape has sites.
    """
    if ACQUISITIONS[name].needs == "moments":
        return {"log_probs": moments(*shape[:2], math.prod(shape[2:-1]), seed=seed, dtype=dtype)}
    arguments = {"log_probs": brute_force.predictions(*shape, seed=seed, certain=certain).to(dtype)}
    if ACQUISITIONS[name].needs == "targets":
        arguments["targets"] = brute_force.predictions(3, shape[1], 4, seed=seed + 1, certain=certain).to(
            dtype
        )
    return arguments


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ACQUISITIONS)
def test_scores_are_finite_one_for_each_item_and_site(name, shape):
    scores = score(name, **inputs(name, shape))
    expected = (shape[0], *shape[2:-1])
    if ACQUISITIONS[name].needs == "moments":
        expected = (shape[0], math.prod(shape[2:-1]))
    assert scores.shape == (shape[:1] if name == "random" else expected)
    assert scores.isfinite().all()


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_scores_are_never_negative(name):
    for seed in range(10):
        assert (score(name, **inputs(name, (8, 4, 5), seed=seed, dtype=torch.float32)) >= 0).all()


@pytest.mark.parametrize("name", PREDICTING)
def test_float32_keeps_its_type_and_is_near_float64(name):
    single = score(name, **inputs(name, (20, 5, 4), dtype=torch.float32))
    assert single.dtype == torch.float32
    assert torch.allclose(single.double(), score(name, **inputs(name, (20, 5, 4))), atol=1e-5)


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_an_item_is_scored_for_itself(name):
    arguments = inputs(name, (6, 5, 3, 4))
    ids = [f"item-{i}" for i in range(6)]
    order = torch.tensor([4, 2, 5, 0])
    whole = score(name, **arguments, ids=ids)
    arguments["log_probs"] = arguments["log_probs"][order]
    assert torch.allclose(score(name, **arguments, ids=[ids[i] for i in order]), whole[order])


@pytest.mark.parametrize("name", PREDICTING)
def test_the_order_of_draws_does_not_matter(name):
    arguments = inputs(name, (6, 5, 4))
    before = score(name, **arguments)
    order = torch.tensor([3, 0, 4, 2, 1])
    turned = {key: value[:, order] for key, value in arguments.items()}
    assert torch.allclose(score(name, **turned), before)


@pytest.mark.parametrize("name", [name for name in PREDICTING if name not in OF_NUMBERS])
def test_the_order_of_classes_does_not_matter(name):
    arguments = inputs(name, (6, 5, 4))
    before = score(name, **arguments)
    arguments["log_probs"] = arguments["log_probs"][..., [2, 0, 3, 1]]
    assert torch.allclose(score(name, **arguments), before)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_a_number_is_scored_for_itself_wherever_it_lies(name):
    arguments = inputs(name, (6, 5, 4, 2))
    before = score(name, **arguments)
    order = [2, 0, 3, 1]
    arguments["log_probs"] = arguments["log_probs"][:, :, order]
    assert torch.allclose(score(name, **arguments), before[:, order])
    arguments["log_probs"] = arguments["log_probs"] + torch.tensor([7.0, 0.0])  # every mean moved alike
    assert torch.allclose(score(name, **arguments), before[:, order])


@pytest.mark.parametrize("name", PREDICTING)
def test_a_draw_more_often_changes_nothing_when_all_are(name):
    arguments = inputs(name, (6, 5, 4))
    doubled = {key: torch.cat([value, value], dim=1) for key, value in arguments.items()}
    assert torch.allclose(score(name, **doubled), score(name, **arguments), atol=1e-9)


@pytest.mark.parametrize("name", PREDICTING)
def test_memory_layout_does_not_matter(name):
    arguments = inputs(name, (6, 5, 3, 4))
    before = score(name, **arguments)
    arguments["log_probs"] = arguments["log_probs"].movedim(0, -1).contiguous().movedim(-1, 0)
    assert torch.allclose(score(name, **arguments), before)


@pytest.mark.parametrize("name", PREDICTING)
def test_an_item_that_is_sure_under_every_draw_scores_zero(name):
    arguments = inputs(name, (3, 5, 4))
    sure = torch.eye(4, dtype=torch.float64)[:3].log()[:, None].expand(3, 5, 4)
    if name in OF_NUMBERS:  # sure of the weights: every draw says the same
        sure = moments(3, 1, 1).expand(3, 5, 1, 2)
    arguments["log_probs"] = sure
    assert score(name, **arguments).flatten().tolist() == pytest.approx([0, 0, 0], abs=1e-12)


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_nothing_around_is_touched_and_the_answer_repeats(name):
    arguments = inputs(name, (6, 5, 4))
    copies = {key: value.clone() for key, value in arguments.items()}
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = score(name, **arguments, seed=7)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(arguments[key], copies[key]) for key in arguments)
    torch.manual_seed(2)
    assert torch.equal(score(name, **arguments, seed=7), first)


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_options_are_keyword_only_and_the_docstring_is_one_line_first(name):
    function = ACQUISITIONS[name].function
    _, *options = inspect.signature(function).parameters.values()
    assert all(option.kind is option.KEYWORD_ONLY for option in options)
    assert function.__doc__.splitlines()[0].endswith((".", ")."))
