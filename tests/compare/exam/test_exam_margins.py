"""What the exam asks of three posteriors, each by its own theory, with controls that do not pass."""

from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor

from askwise.bayes.fit import fit
from askwise.bayes.posteriors import laplace
from askwise.compare.exam.answer import Answer, answer, with_ones
from askwise.compare.exam.gold import Gold, load
from askwise.compare.exam.grades import Grades, covariance_error, grade
from askwise.compare.exam.heads import HEADS, Head
from askwise.compare.exam.sitting import Protocol, answered, learned, mean_field

pytestmark = pytest.mark.slow
PROTOCOL = Protocol()
STEPS = {
    "laplace": 200,
    "vbll": 4000,
    "bbb": 8000,
}  # Laplace goes to the mode itself, vbll learns without noise


@dataclass(frozen=True)
class Desk:
    """A head, its exact posterior, and the best that independent weights can do."""

    head: Head
    gold: Gold
    optimum: Answer

    def sit(self, name: str) -> Answer:
        protocol = replace(PROTOCOL, steps=STEPS[name.partition(" ")[0]])
        return answered(protocol, self.head, learned(protocol, self.head, name, seed=0), seed=0)

    def grade(self, found: Answer) -> Grades:
        return grade(found, self.gold.whole, mean_field_std=self.gold.mean_field_std)

    def widened(self, found: Answer, factor: float) -> Answer:
        """Independent Gaussians of the same means and so many times the deviations."""
        rng = torch.Generator().manual_seed(0)
        noise = torch.randn(PROTOCOL.draws, len(found.mean), generator=rng, dtype=torch.float64)
        weights = found.mean + factor * found.std * noise
        return answer(self.head, weights.view(PROTOCOL.draws, self.head.outputs, -1))


@pytest.fixture(scope="module", params=HEADS)
def desk(request: pytest.FixtureRequest) -> Desk:
    return _desk(request.param)


def _desk(name: str) -> Desk:
    head = HEADS[name]()
    gold = load(head)
    return Desk(head, gold, mean_field(PROTOCOL, head, gold))


def is_laplace(found: Grades) -> bool:
    """Exact for the Gaussian head and near for softmax: sds within 15 %, the pool in nearly gold's order."""
    return (
        found["std_5"] > 0.85
        and found["std_95"] < 1.15
        and found["covariance"] < 0.15
        and found["bald"] > 0.9
    )


def test_full_laplace_is_near_the_exact_posterior(desk: Desk) -> None:
    assert is_laplace(desk.grade(desk.sit("laplace full")))


def test_full_laplace_under_a_prior_ten_times_as_precise_is_not(desk: Desk) -> None:
    head = desk.head
    config = laplace.Config(form="full", prior_precision=10 * head.prior_std**-2)
    short = replace(PROTOCOL, steps=STEPS["laplace"]).training()
    fitted = fit(head.network(), head.train, posterior=config, task=head.task, training=short, seed=0)
    assert not is_laplace(desk.grade(answered(PROTOCOL, head, fitted, seed=0)))


def is_mean_field(desk: Desk, found: Answer) -> bool:
    """At the optimum of the mean-field ELBO: its widths within 10 %, and as near to gold as it is."""
    ratio = (found.std / desk.gold.mean_field_std).quantile(torch.tensor([0.05, 0.5, 0.95]).double())
    own, best = desk.grade(found), desk.grade(desk.optimum)
    return bool(
        ratio[0] > 0.9
        and ratio[2] < 1.1
        and abs(ratio[1] - 1) < 0.05
        and abs(own["covariance"] - best["covariance"]) < 0.05
        and own["kl"] < best["kl"] + 0.01
        and own["bald"] > best["bald"] - 0.02
    )


def test_bbb_is_at_the_mean_field_optimum_and_twice_its_width_is_not(desk: Desk) -> None:
    found = desk.sit("bbb")
    assert is_mean_field(desk, found)
    assert is_mean_field(desk, desk.widened(found, 1.0))
    assert not is_mean_field(desk, desk.widened(found, 2.0))
    assert not is_mean_field(desk, desk.widened(found, 0.5))


def test_diagonal_vbll_of_numbers_is_at_the_mean_field_optimum_and_dense_at_the_exact_posterior() -> None:
    desk = _desk("diabetes")
    diagonal, dense = desk.sit("vbll diag"), desk.sit("vbll dense")
    assert is_mean_field(desk, diagonal)
    assert not is_mean_field(desk, dense)
    assert is_laplace(desk.grade(dense))
    assert not is_laplace(desk.grade(diagonal))
    assert covariance_error(dense, desk.gold.whole) < 0.1


@pytest.mark.parametrize("form", ["diag", "dense"])
def test_vbll_of_classes_is_at_the_optimum_of_its_own_bound_which_is_narrower(form: str) -> None:
    """Where the bound is flat in the variances v: precision = prior's + sum softmax(m + v / 2) phi phi^T."""
    desk = _desk("digits")
    found = desk.sit(f"vbll {form}")
    features = with_ones(desk.head.train[0])
    mean = found.mean.view(10, -1)
    blocks = found.covariances.mean(0).view(10, 21, 10, 21)
    own = torch.stack([blocks[c, :, c] for c in range(10)])
    variance = torch.einsum("nd,cde,ne->nc", features, own, features)
    p = (features @ mean.T + variance / 2).softmax(dim=1)
    precision = torch.einsum("nc,nd,ne->cde", p, features, features) + torch.eye(21) / desk.head.prior_std**2
    best = precision.inverse() if form == "dense" else torch.diag_embed(1 / _diagonal(precision))
    ratio = (_diagonal(own) / _diagonal(best)).sqrt().flatten().quantile(torch.tensor([0.05, 0.95]).double())
    assert 0.9 < ratio[0] < ratio[1] < 1.1
    exact = desk.gold.whole.covariances.mean(0).diagonal().view(10, 21)
    control = (_diagonal(own) / exact).sqrt()
    assert control.median() < 0.8  # narrower than the posterior, whose widths would not pass
    assert desk.grade(found)["bald"] > 0.95


def _diagonal(matrices: Tensor) -> Tensor:
    return matrices.diagonal(dim1=-2, dim2=-1)
