"""Laplace's method on the last layer is exact where it can be, and small where it must be."""

import subprocess
import sys

import pytest
import torch
from linear_gaussian import linear_gaussian
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.curvature import rotated
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import laplace
from askwise.errors import InputError
from askwise.tasks import classification, multilabel, regression
from askwise.train import Training

QUICK = Training(epochs=1)


def covariance(fitted: Fitted, layer: str) -> Tensor:
    """The whole covariance matrix that the state describes, in the order of the joined weights [C, D]."""
    known = {name.removeprefix(f"{layer}."): value for name, value in fitted.state.items()}
    scale = known["scale"].double()
    basis = {name: known[name].double() for name in ("all", "inputs", "outputs") if name in known}
    units = torch.eye(scale.numel(), dtype=torch.float64).view(-1, *scale.shape)
    factor = torch.stack([rotated(basis, unit * scale).flatten() for unit in units], dim=1)
    return factor @ factor.T


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("form", ["full", "kron", "diag"])
def test_linear_gaussian_data_have_the_exact_posterior(form: str, bias: bool) -> None:
    exact = linear_gaussian(bias=bias, prior_std=0.7)
    fitted = aw.fit(
        exact.network(),
        exact.data,
        posterior=aw.laplace(form=form, prior_precision=0.7**-2),
        task=regression(tau=exact.tau),
        training=QUICK,
    )
    for name, value in exact.parts(exact.mean).items():
        torch.testing.assert_close(fitted.network.get_parameter(name).detach(), value, rtol=1e-4, atol=1e-5)
    wanted = torch.linalg.inv(exact.precision)
    if form == "diag":
        wanted = torch.diag(1 / exact.precision.diagonal())
    torch.testing.assert_close(
        covariance(fitted, "dense"), wanted, rtol=1e-4, atol=1e-4 * wanted.max().item()
    )


@pytest.mark.parametrize("form", ["full", "kron"])
def test_two_numbers_with_equal_noise_have_the_exact_posterior_too(form: str) -> None:
    exact = linear_gaussian(bias=True)
    x, y = exact.data
    network = nn.Sequential(nn.Linear(3, 2))
    fitted = aw.fit(
        network,
        (x, torch.cat([y, -2 * y], 1)),
        posterior=aw.laplace(form=form, prior_precision=1.0),
        task=regression(tau=exact.tau),
        training=QUICK,
    )
    mean = torch.cat([fitted.network[0].weight, fitted.network[0].bias[:, None]], 1).detach().double()
    torch.testing.assert_close(mean, torch.stack([exact.mean, -2 * exact.mean]), rtol=1e-4, atol=1e-4)
    wanted = torch.block_diag(*[torch.linalg.inv(exact.precision)] * 2)
    torch.testing.assert_close(covariance(fitted, "0"), wanted, rtol=1e-4, atol=1e-6)


def test_the_prior_and_the_marginal_likelihood_are_the_exact_ones() -> None:
    exact = linear_gaussian(bias=True)
    design = torch.cat([exact.x, torch.ones(len(exact.x), 1)], 1)

    def evidence(delta: float) -> float:
        spread = design @ design.T / delta + torch.eye(len(design)) / exact.tau
        normal = torch.distributions.MultivariateNormal(torch.zeros(len(design)).double(), spread)
        return normal.log_prob(exact.y[:, 0]).item()

    fitted = aw.fit(
        exact.network(), exact.data, posterior=aw.laplace(), task=regression(tau=exact.tau), training=QUICK
    )
    found = fitted.state["dense.prior_precision"].item()
    assert fitted.state["dense.log_evidence"].item() == pytest.approx(evidence(found), abs=1e-3)
    assert evidence(found) > max(evidence(found * 1.3), evidence(found / 1.3))


@pytest.mark.parametrize("form", ["full", "kron", "diag"])
def test_draws_have_the_covariance_of_the_state(form: str) -> None:
    rng = torch.Generator().manual_seed(0)
    x, y = torch.randn(40, 3, generator=rng), torch.arange(40) % 3
    config = aw.laplace(form=form, prior_precision=1.0)
    fitted = aw.fit(nn.Sequential(nn.Linear(3, 3)), (x, y), posterior=config, training=QUICK)
    draws = laplace.draw(fitted.network, config, fitted.state, numbers=range(4_000), seed=0, sites=())
    flat = torch.cat([draws["0.weight"], draws["0.bias"].unsqueeze(-1)], dim=-1).flatten(1).double()
    wanted = covariance(fitted, "0")
    noise = (wanted.diagonal().outer(wanted.diagonal()) + wanted.square()).div(4_000).sqrt()
    assert ((torch.cov(flat.T) - wanted).abs() < 5 * noise + 1e-9).all()


@pytest.mark.parametrize(
    ("task", "outputs", "form"),
    [
        (classification(link="softplus"), 3, "kron"),
        (classification(link="softplus"), 3, "full"),
        (multilabel(), 3, "kron"),
        (multilabel(), 3, "diag"),
        (regression(tau=2.0), 3, "full"),
        (regression(), 6, "kron"),
    ],
    ids=[
        "softplus kron",
        "softplus full",
        "tags kron",
        "tags diag",
        "fixed noise full",
        "learned noise kron",
    ],
)
def test_every_task_learns_and_predicts(task, outputs: int, form: str) -> None:
    rng = torch.Generator().manual_seed(0)
    x, noise = torch.randn(2, 50, 4, generator=rng)
    rough = (x + noise)[:, :3]
    y = {"classification": torch.arange(50) % 3, "multilabel": (rough > 0).float()}.get(task.name, rough)
    config = aw.laplace(form=form, prior_precision=1.0)
    network = aw.nets.mlp(4, outputs, hidden=(8,))
    fitted = aw.fit(network, (x, y), posterior=config, task=task, training=QUICK)
    near, far = (aw.predict(fitted, scale * x, draws=50) for scale in (1.0, 1e-3))
    assert near.mean.isfinite().all()
    assert (near.epistemic > 0).all()
    assert not torch.equal(near.mean, far.mean)


def test_noise_that_is_the_same_for_every_item_may_stand_beside_the_layer() -> None:
    x = torch.randn(50, 4, generator=torch.Generator().manual_seed(0))
    network = aw.nets.homoscedastic(aw.nets.mlp(4, 1, hidden=(8,)))
    fitted = aw.fit(network, (x, x[:, :1]), posterior=aw.laplace(), task="regression", training=QUICK)
    assert aw.moments(fitted, x, draws=7).shape == (50, 7, 1, 2)
    assert (aw.predict(fitted, x).epistemic > 0).all()


def test_the_mode_fits_the_labels_better_than_the_training_left_them() -> None:
    rng = torch.Generator().manual_seed(0)
    y = torch.arange(60) % 3
    x = torch.randn(60, 6, generator=rng) + 2 * torch.nn.functional.one_hot(y, 6)
    network = aw.nets.mlp(6, 3, hidden=(16,))
    point = aw.fit(network, (x, y), posterior=aw.point(), training=QUICK, start="scratch")
    fitted = aw.fit(network, (x, y), posterior=aw.laplace(), training=QUICK, start="scratch")

    def nll(found: Fitted) -> float:
        return -aw.predict(found, x).mean.log().gather(1, y[:, None]).mean().item()

    assert nll(fitted) < 0.5 * nll(point)
    same = [
        name
        for name, p in fitted.network.named_parameters()
        if torch.equal(p, point.network.get_parameter(name))
    ]
    assert same == ["dense1.weight", "dense1.bias"]


def test_doubt_is_larger_far_from_the_data_and_smaller_with_more_of_them() -> None:
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(400, 2, generator=rng)
    y = (x[:, 0] + 0.5 * torch.randn(400, generator=rng) > 0).long()

    def doubt(count: int, at: Tensor) -> float:
        config = aw.laplace(form="full", prior_precision=1.0)
        fitted = aw.fit(
            nn.Sequential(nn.Linear(2, 2)), (x[:count], y[:count]), posterior=config, training=QUICK
        )
        return aw.predict(fitted, at).epistemic.mean().item()

    sideways = torch.tensor([[0.0, 8.0], [0.0, -8.0]])
    assert doubt(400, sideways) > 2 * doubt(400, torch.zeros(1, 2))
    assert doubt(20, sideways) > 2 * doubt(400, sideways)


def test_refining_narrows_what_is_sure_at_the_mode_and_leaves_the_exact_answer_alone() -> None:
    y = torch.arange(60) % 3
    x = torch.randn(60, 6, generator=torch.Generator().manual_seed(0)) + 6 * nn.functional.one_hot(y, 6)
    network, nlls = nn.Sequential(nn.Linear(6, 3)), []
    for turns in (0, 3):
        config = aw.laplace(form="full", prior_precision=0.1, refine=turns)
        found = aw.predict(aw.fit(network, (x, y), posterior=config, training=QUICK), x)
        nlls.append(-found.mean.log().gather(1, y[:, None]).mean().item())
    assert nlls[1] < 0.7 * nlls[0]
    exact = linear_gaussian()
    plain, refined = (
        aw.fit(
            exact.network(),
            exact.data,
            posterior=aw.laplace(prior_precision=1.0, refine=turns),
            task=regression(tau=exact.tau),
            training=QUICK,
        )
        for turns in (0, 2)
    )
    torch.testing.assert_close(covariance(refined, "dense"), covariance(plain, "dense"), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(("outputs", "turns"), [(3, 3), (1001, 0)])
def test_the_curvature_is_refined_unless_the_outputs_are_many(outputs: int, turns: int) -> None:
    rng = torch.Generator().manual_seed(0)
    data = torch.randn(30, 4, generator=rng), torch.randint(outputs, (30,), generator=rng)
    by_default, asked, other = (
        aw.fit(
            nn.Sequential(nn.Linear(4, outputs)),
            data,
            posterior=aw.laplace(form="diag", prior_precision=1.0, refine=refine),
            training=QUICK,
            start="scratch",
            seed=0,
        ).state["0.scale"]
        for refine in (None, turns, 3 - turns)
    )
    assert torch.equal(by_default, asked)
    assert not torch.equal(by_default, other)


def test_a_large_full_covariance_is_refused_before_any_training() -> None:
    network = nn.Sequential(nn.Linear(4, 512), nn.Linear(512, 5000))
    data = torch.zeros(2, 4), torch.arange(2)
    with pytest.raises(InputError, match=r"full laplace of 513 x 5,000 weights needs 52\.6 TB"):
        aw.fit(network, data, posterior=aw.laplace(form="full"), training=Training(epochs=10**6))
    with pytest.raises(InputError, match="'0' is Conv1d"):
        aw.fit(
            nn.Sequential(nn.Conv1d(1, 2, 3), nn.Flatten()),
            (torch.zeros(2, 1, 3), torch.arange(2)),
            posterior=aw.laplace(),
        )


def test_bad_options_are_refused() -> None:
    with pytest.raises(InputError, match="unknown form 'kro'; did you mean 'kron'"):
        aw.laplace(form="kro")
    with pytest.raises(InputError, match="prior_precision must be above 0"):
        aw.laplace(prior_precision=0.0)


_LARGE_HEAD = """
import resource, sys
import torch
from torch import nn
import askwise as aw

peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
rng = torch.Generator().manual_seed(0)
x, y = torch.randn(256, 512, generator=rng), torch.randint(5000, (256,), generator=rng)
config, once = aw.laplace(form=sys.argv[1], prior_precision=1.0), aw.Training(epochs=1)
small = aw.fit(nn.Sequential(nn.Linear(512, 3)), (x, y % 3), posterior=config, training=once)
aw.predict(small, x, draws=2)
before = peak()
fitted = aw.fit(nn.Sequential(nn.Linear(512, 5000)), (x, y), posterior=config, training=once)
aw.predict(fitted, x[:8], draws=2)
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["diag", "kron"])
def test_a_head_of_five_thousand_classes_stays_under_a_gigabyte(form: str) -> None:
    out = subprocess.run(
        [sys.executable, "-c", _LARGE_HEAD, form], capture_output=True, text=True, check=True
    )
    assert int(out.stdout) < 1e9
