import brute_force
import pytest
import torch

from askwise.acquire import ACQUISITIONS, bald, score, top_u
from askwise.errors import InputError


def test_score_finds_the_function_by_name_and_passes_its_options():
    log_probs = brute_force.predictions(4, 5, 6)
    assert torch.equal(score("bald", log_probs), bald(log_probs))
    assert torch.equal(score("top_u", log_probs, u=3), top_u(log_probs, u=3))
    assert not torch.equal(score("top_u", log_probs, u=3), score("top_u", log_probs))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bold",), "unknown acquisition 'bold'; did you mean 'bald'[?] choose one of: random, "),
        (("bald",), "acquisition 'bald' needs log_probs"),
    ],
)
def test_unknown_names_and_missing_log_probs_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        score(*arguments)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("bald", {"votes": True}, "acquisition 'bald' takes no options, and was given 'votes'"),
        ("variation_ratios", {"vote": True}, "unknown option .* 'vote'; did you mean 'votes'"),
        ("bald", {"targets": torch.zeros(1, 5, 1)}, "takes no targets"),
        ("random", {"votes": True}, "takes no options"),
        ("epig", {"aim": 1}, "takes no options"),
    ],
)
def test_no_argument_is_dropped_in_silence(name, options, message):
    with pytest.raises(InputError, match=message):
        score(name, brute_force.predictions(4, 5, 6), **options)


@pytest.mark.parametrize("name", [n for n, a in ACQUISITIONS.items() if a.needs in ("log_probs", "targets")])
def test_every_acquisition_of_classes_refuses_probabilities(name):
    log_probs = brute_force.predictions(4, 5, 6)
    targets = {"targets": log_probs} if name == "epig" else {}
    with pytest.raises(InputError, match=r"log_probs.log\(\)"):
        score(name, log_probs.exp(), **targets)


@pytest.mark.parametrize("name", [n for n, a in ACQUISITIONS.items() if a.needs == "moments"])
@pytest.mark.parametrize(
    ("found", "message"),
    [
        (None, r"needs moments \[N, T, D, 2\]"),
        (brute_force.predictions(4, 5, 6), r"moments must be \[N, T, D, 2\]"),
        (torch.zeros(4, 5, 1, 2).long(), "floating-point"),
        (torch.full((4, 5, 1, 2), torch.nan), "finite"),
    ],
)
def test_every_acquisition_of_numbers_refuses_what_is_no_moments(name, found, message):
    with pytest.raises(InputError, match=message):
        score(name, found)


def test_half_precision_is_scored_in_float32():
    log_probs = brute_force.predictions(4, 5, 6)
    found = score("bald", log_probs.half())
    assert found.dtype == torch.float32
    assert torch.allclose(found.double(), bald(log_probs), atol=2e-3)
