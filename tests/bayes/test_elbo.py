"""The ELBO that is measured is the closed form where there is one, and a bound on the evidence."""

import math
from collections import OrderedDict

import pytest
import torch
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.elbo import elbo
from askwise.bayes.fitted import Fitted
from askwise.errors import InputError

TAU, PRIOR = 4.0, 0.7


def linear(count: int = 80) -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(count, 3, generator=rng, dtype=torch.float64)
    return x, x @ torch.tensor([[1.0], [-0.5], [0.2]], dtype=torch.float64) + 0.5 * torch.randn(
        count, 1, generator=rng, dtype=torch.float64
    )


def made(mean: Tensor, std: Tensor, task: aw.tasks.Task | None = None) -> Fitted:
    """A model whose posterior is N(mean, std^2) over the weights of one dense layer."""
    network = nn.Sequential(OrderedDict(dense=nn.Linear(mean.shape[1], len(mean), bias=False)))
    with torch.no_grad():
        network.dense.weight.copy_(mean)
    kind = task or aw.tasks.regression(tau=TAU, standardise=False)
    return Fitted(network.eval(), aw.vogn(prior_std=PRIOR), kind, {"std.dense.weight": std.float()}, ())


def closed_form(x: Tensor, y: Tensor, mean: Tensor, std: Tensor) -> tuple[float, float]:
    squares = (y - x @ mean.T).square() + x.square() @ std.square().T
    likely = (math.log(TAU / (2 * math.pi)) - TAU * squares).sum() / 2
    kl = ((std / PRIOR) ** 2 + (mean / PRIOR) ** 2 - 1 - 2 * (std / PRIOR).log()).sum() / 2
    return likely.item(), kl.item()


def log_evidence(x: Tensor, y: Tensor) -> float:
    covariance = PRIOR**2 * x @ x.T + torch.eye(len(x), dtype=x.dtype) / TAU
    normal = torch.distributions.MultivariateNormal(torch.zeros(len(x), dtype=x.dtype), covariance)
    return normal.log_prob(y.flatten()).item()


def test_it_is_the_closed_form_of_linear_regression() -> None:
    x, y = linear()
    mean, std = torch.tensor([[0.9, -0.4, 0.1]]).double(), torch.tensor([[0.1, 0.2, 0.05]]).double()
    likely, kl = closed_form(x, y, mean, std)
    found = elbo(made(mean, std), (x.float(), y.float()), draws=4000)
    assert found.kl == pytest.approx(kl, rel=1e-6)
    assert found.expected_log_likelihood == pytest.approx(likely, rel=0.01)
    assert found.total == found.expected_log_likelihood - found.kl
    assert found.per_label == pytest.approx(found.total / 80)
    # The control: the log of the averaged density, which a prediction is measured by, is another number.
    measured = aw.evaluate(made(mean, std), (x.float(), y.float()), draws=1000)["log_likelihood"] * 80
    assert measured > likely + 5


def test_it_is_below_the_evidence_and_highest_at_the_mean_field_optimum() -> None:
    x, y = linear()
    precision = TAU * x.T @ x + torch.eye(3, dtype=x.dtype) / PRIOR**2
    mean, std = torch.linalg.solve(precision, TAU * x.T @ y).T, precision.diagonal().rsqrt()[None]
    best = elbo(made(mean, std), (x.float(), y.float()), draws=1000).total
    assert log_evidence(x, y) - 2 < best < log_evidence(x, y)
    for other in (made(mean, 2 * std), made(mean, std / 2), made(mean + 2 * std, std)):
        assert elbo(other, (x.float(), y.float()), draws=1000).total < best - 0.3


def test_another_prior_may_be_asked_for_and_unknown_labels_count_nothing() -> None:
    x, y = torch.randn(10, 3), torch.tensor([0, 1, 9, 1, 9, 0, 0, 1, 1, 0])
    fitted = made(torch.randn(2, 3), torch.full((2, 3), 0.1), aw.tasks.classification(ignore=9))
    known = y != 9
    found, alone = elbo(fitted, (x, y)), elbo(fitted, (x[known], y[known]))
    assert found.count == alone.count == 8
    assert found.total == pytest.approx(alone.total, rel=1e-5)
    assert elbo(fitted, (x, y), prior_std=2.0).kl != pytest.approx(found.kl, rel=0.01)
    with pytest.raises(InputError, match="every label is unknown"):
        elbo(fitted, (x, torch.full((10,), 9)))


def test_the_prior_of_bbb_is_that_of_each_layer() -> None:
    x, y = torch.randn(20, 4), torch.arange(20) % 3
    own = aw.nets.mlp(4, 3, hidden=(8,))
    once = aw.Training(epochs=1, lr=1e-12)
    fitted = aw.fit(own, (x, y), posterior=aw.bbb(all=True, bias=True, kl_weight=1.0), training=once)
    assert elbo(fitted, (x, y)).kl == pytest.approx(fitted.history[0]["kl"], rel=1e-4)
    improper = aw.bbb(scale="alpha", prior="log_uniform")
    with pytest.raises(InputError, match="a prior that integrates"):
        elbo(aw.fit(own, (x, y), posterior=improper, training=once), (x, y))


def test_an_image_is_one_label_and_the_tags_of_an_item_add_up() -> None:
    x = torch.randn(5, 3)
    fitted = made(torch.randn(2, 3), torch.full((2, 3), 1e-6), aw.tasks.multilabel())
    tags = torch.tensor([[0.0, 1], [1, -1], [-1, -1], [0, 0], [1, 1]])
    found = elbo(fitted, (x, tags), draws=2)
    assert found.count == 4
    nll = fitted.task.nll(fitted.network(x), tags).item()
    assert found.expected_log_likelihood == pytest.approx(-4 * nll, rel=1e-4)


@pytest.mark.parametrize("posterior", [aw.point(), aw.bbb(dropout=True)])
def test_what_is_not_made_of_independent_gaussians_is_refused(posterior) -> None:
    x, y = torch.randn(20, 4), torch.arange(20) % 3
    fitted = aw.fit(aw.nets.mlp(4, 3), (x, y), posterior=posterior, training=aw.Training(epochs=1))
    with pytest.raises(InputError, match="independent Gaussians without dropout"):
        elbo(fitted, (x, y))
