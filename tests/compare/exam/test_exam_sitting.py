from dataclasses import replace

import pytest
import torch
from tiny_head import head

from askwise.bayes.posteriors import POSTERIORS
from askwise.bayes.predict import log_probs, moments
from askwise.compare.exam.candidates import CANDIDATES, PRIORS
from askwise.compare.exam.sitting import Protocol, answered, drawn_weights, learned

QUICK = Protocol(steps=6, batch_size=6, draws=50)


def test_every_posterior_is_a_candidate_under_its_own_name_and_says_what_prior_it_takes() -> None:
    assert {candidate.posterior for candidate in CANDIDATES.values()} == set(POSTERIORS)
    for candidate in CANDIDATES.values():
        config = candidate.config(head())
        assert config.name == candidate.posterior
        assert candidate.prior in PRIORS
        assert getattr(config, "kl_weight", 1.0) == 1.0


@pytest.mark.parametrize("name", CANDIDATES)
def test_the_weights_that_are_graded_predict_as_the_model_does(name: str) -> None:
    tiny = head()
    fitted = learned(QUICK, tiny, name, seed=0)
    weights = drawn_weights(fitted, 2, draws=50, seed=3)
    expected = log_probs(fitted, tiny.pool, draws=50, seed=3)
    found = torch.einsum("nd,tcd->ntc", tiny.pool.double(), weights[..., :2]) + weights[..., 2]
    torch.testing.assert_close(found.log_softmax(-1), expected.double(), rtol=0, atol=1e-5)
    numbers = head(classes=1)
    fitted = learned(QUICK, numbers, name, seed=0)
    weights = drawn_weights(fitted, 2, draws=50, seed=3)
    expected = moments(fitted, numbers.pool, draws=50, seed=3)[..., 0]
    found = torch.einsum("nd,tcd->ntc", numbers.pool.double(), weights[..., :2]) + weights[..., 2]
    torch.testing.assert_close(found, expected.double(), rtol=0, atol=1e-5)


def test_a_mask_counts_as_weights_that_are_nought() -> None:
    fitted = learned(QUICK, head(), "mc_dropout 0.5", seed=0)
    found = drawn_weights(fitted, 2, draws=50, seed=0)
    own = fitted.network[1].weight.detach().double()
    dropped = found[..., :2].abs() < 1e-6
    assert 0.3 < dropped.double().mean() < 0.7
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    torch.testing.assert_close(found[..., :2], torch.where(dropped, 0.0, 2 * own), rtol=1e-5, atol=1e-6)


def test_members_of_an_ensemble_are_all_there_is() -> None:
    fitted = learned(QUICK, head(), "ensemble", seed=0)
    found = answered(QUICK, head(), fitted, seed=0)
    members = drawn_weights(fitted, 2, draws=50, seed=0)
    assert len(members) == 5
    torch.testing.assert_close(found.std, members.flatten(1).std(dim=0, correction=0))


def test_the_training_has_at_least_so_many_steps() -> None:
    for steps in (1, 6, 7):
        course = replace(QUICK, steps=steps).training().course(12)
        assert steps <= course.steps < steps + 2
