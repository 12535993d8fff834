"""Laplace's method on the last layer is exact where it can be, and small where it must be."""

import subprocess
import sys

import pytest
import torch
from linear_gaussian import linear_gaussian
from softmax_regression import sampled
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.fitted import Fitted
from askwise.bayes.learning import State, TrainingJob
from askwise.bayes.posteriors import laplace
from askwise.bayes.posteriors.curvature import rotated
from askwise.errors import InputError
from askwise.tasks import classification, multilabel, regression
from askwise.train import Training, examples

QUICK = Training(epochs=1)


def covariance(fitted: Fitted, layer: str) -> Tensor:
    """The whole covariance matrix that the state describes, in the order of the joined weights [C, D]."""
    known = {name.removeprefix(f"{layer}."): value.double() for name, value in fitted.state.items()}
    scale, wide = known["scale"], len(known["stretch"])
    units = torch.eye(scale.numel(), dtype=torch.float64).view(-1, *scale.shape)
    factor = torch.stack([rotated(known, unit * scale) for unit in units])
    each = torch.eye(len(scale), dtype=torch.float64)
    beyond = torch.zeros(wide, wide, dtype=torch.float64)
    if "axes" in known:  # the prior's beside them
        factor = factor @ known["axes"].T
        beyond = torch.eye(wide) - known["axes"] @ known["axes"].T
    factor = (factor * known["stretch"]).flatten(1)
    beyond = beyond * known["stretch"].outer(known["stretch"]) / known["width_precision"]
    return factor.T @ factor + torch.kron(each, beyond)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("form", ["full", "kron", "diag"])
def test_linear_gaussian_data_have_the_exact_posterior(form: str, bias: bool) -> None:
    exact = linear_gaussian(bias=bias, prior_std=0.7)
    fitted = aw.fit(
        exact.network(),
        exact.data,
        posterior=aw.laplace(form=form, prior_precision=0.7**-2),
        task=regression(tau=exact.tau, standardise=False),
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
        task=regression(tau=exact.tau, standardise=False),
        training=QUICK,
    )
    mean = torch.cat([fitted.network[0].weight, fitted.network[0].bias[:, None]], 1).detach().double()
    torch.testing.assert_close(mean, torch.stack([exact.mean, -2 * exact.mean]), rtol=1e-4, atol=1e-4)
    wanted = torch.block_diag(*[torch.linalg.inv(exact.precision)] * 2)
    torch.testing.assert_close(covariance(fitted, "0"), wanted, rtol=1e-4, atol=1e-6)


def test_numbers_have_the_exact_marginal_likelihood_and_the_prior_where_it_is_highest() -> None:
    exact = linear_gaussian(bias=True)
    design = torch.cat([exact.x, torch.ones(len(exact.x), 1)], 1)

    def evidence(delta: float) -> float:
        spread = design @ design.T / delta + torch.eye(len(design)) / exact.tau
        normal = torch.distributions.MultivariateNormal(torch.zeros(len(design)).double(), spread)
        return normal.log_prob(exact.y[:, 0]).item()

    def with_guess(delta: float) -> float:
        median = design.square().sum(1).mean() / exact.y.square().mean()
        return evidence(delta) - (torch.tensor(delta).log() - median.log()).item() ** 2 / 8

    fitted = aw.fit(
        exact.network(),
        exact.data,
        posterior=aw.laplace(),
        task=regression(tau=exact.tau, standardise=False),
        training=QUICK,
    )
    found = fitted.state["dense.prior_precision"].item()
    assert fitted.state["dense.width_precision"].item() == found
    assert fitted.state["dense.log_evidence"].item() == pytest.approx(evidence(found), abs=1e-3)
    assert with_guess(found) > max(with_guess(found * 1.4), with_guess(found / 1.4))


def by_hand(fitted: Fitted, x: Tensor, precision: float, form: str) -> Tensor:
    """The inverse of curvature plus precision at the mode, every matrix in full; three classes."""
    layer = fitted.network[0]
    phi = torch.cat([x, torch.ones(len(x), 1)], 1).double()
    p = (phi @ torch.cat([layer.weight, layer.bias[:, None]], 1).detach().double().T).softmax(1)
    each = torch.diag_embed(p) - p[:, :, None] * p[:, None]  # [N, C, C]
    if form == "kron":
        bend = torch.kron(each.sum(0), phi.T @ phi / len(phi))
    else:
        bend = torch.einsum("nck,nd,ne->cdke", each, phi, phi).reshape(3 * phi.shape[1], -1)
    if form == "diag":
        bend = torch.diag(bend.diagonal())
    return torch.linalg.inv(bend + precision * torch.eye(len(bend)))


@pytest.mark.parametrize(("items", "features"), [(40, 3), (6, 3), (5, 30)])
@pytest.mark.parametrize("form", ["full", "kron", "diag"])
def test_with_a_given_prior_the_covariance_is_the_inverse_of_curvature_plus_precision(
    form: str, items: int, features: int
) -> None:
    x = torch.randn(items, features, generator=torch.Generator().manual_seed(0))
    network, y = nn.Sequential(nn.Linear(features, 3)), torch.arange(items) % 3
    config = aw.laplace(form=form, prior_precision=0.7)
    fitted = aw.fit(network, (x, y), posterior=config, training=QUICK)
    wanted = by_hand(fitted, x, 0.7, form)
    torch.testing.assert_close(covariance(fitted, "0"), wanted, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(covariance(fitted, "0"), by_hand(fitted, x, 1.0, form), rtol=0.02)


@pytest.mark.parametrize("items", [40, 2])
@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("form", ["full", "kron", "diag"])
def test_draws_have_the_covariance_of_the_state(form: str, chosen: bool, items: int) -> None:
    rng = torch.Generator().manual_seed(0)
    x, y = torch.randn(items, 3, generator=rng), torch.arange(items) % 3
    config = aw.laplace(form=form, prior_precision=None if chosen else 1.0)
    fitted = aw.fit(nn.Sequential(nn.Linear(3, 3)), (x, y), posterior=config, training=QUICK)
    draws = config.draw(fitted.network, fitted.state, numbers=range(4_000), seed=0, dropouts=())
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


def test_uncertainty_is_larger_far_from_the_data_and_smaller_with_more_of_them() -> None:
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(400, 2, generator=rng)
    y = (x[:, 0] + 0.5 * torch.randn(400, generator=rng) > 0).long()

    def uncertainty(count: int, at: Tensor) -> float:
        config = aw.laplace(form="full", prior_precision=1.0)
        fitted = aw.fit(
            nn.Sequential(nn.Linear(2, 2)), (x[:count], y[:count]), posterior=config, training=QUICK
        )
        return aw.predict(fitted, at).epistemic.mean().item()

    sideways = torch.tensor([[0.0, 8.0], [0.0, -8.0]])
    assert uncertainty(400, sideways) > 2 * uncertainty(400, torch.zeros(1, 2))
    assert uncertainty(20, sideways) > 2 * uncertainty(400, sideways)


def clouds(count: int, *, apart: float, features: int = 6) -> tuple[Tensor, Tensor]:
    """Items of three classes, so far apart."""
    y = torch.arange(count) % 3
    noise = torch.randn(count, features, generator=torch.Generator().manual_seed(0))
    return noise + apart * nn.functional.one_hot(y, features), y


def chosen(x: Tensor, y: Tensor, *, validation: tuple[Tensor, Tensor] | None = None, **options) -> State:
    """What laplace finds for a network that is one layer."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = nn.Sequential(nn.Linear(x.shape[1], 3))
    held = None if validation is None else examples(validation)
    job = TrainingJob(examples((x, y)), classification(), QUICK, 0, torch.device("cpu"), validation=held)
    return {k.removeprefix("0."): v for k, v in aw.laplace(**options).fit(network, job).state.items()}


def test_the_mode_and_its_prior_are_the_same_whichever_way_the_width_is_chosen() -> None:
    x, y = clouds(60, apart=2)
    folds, evidence = chosen(x, y), chosen(x, y, choose="evidence")
    assert folds["prior_precision"] == evidence["prior_precision"] == evidence["width_precision"]
    assert folds["width_precision"] > folds["prior_precision"]
    given = chosen(x, y, prior_precision=0.3)
    assert given["prior_precision"] == given["width_precision"] == 0.3


def test_what_is_chosen_follows_the_scale_of_the_features() -> None:
    x, y = clouds(60, apart=2)
    small, large = (chosen(scale * x, y) for scale in (10.0, 1000.0))  # both beyond where the bias matters
    for name in ("prior_precision", "width_precision"):
        assert (large[name] / small[name]).item() == pytest.approx(1e4, rel=0.3)


def test_few_labels_of_many_features_keep_a_prior_near_the_guess() -> None:
    rng = torch.Generator().manual_seed(0)
    y = torch.arange(20) % 10
    x = torch.randn(20, 300, generator=rng) + torch.randn(10, 300, generator=rng)[y]
    spread = (x - x.mean(0)).square().sum(1).mean().item()
    state = TrainingJob(examples((x, y)), classification(), QUICK, 0, torch.device("cpu"))
    found = aw.laplace().fit(nn.Sequential(nn.Linear(300, 10)), state).state
    assert 0.1 < found["0.prior_precision"].item() / (spread / 100) < 10
    assert found["0.axes"].shape == (301, 20)


def test_validation_labels_choose_what_suits_them() -> None:
    x, y = clouds(300, apart=3)
    learned, held = (x[:60], y[:60]), (x[60:], y[60:])
    wrong = held[0], torch.randint(3, (240,), generator=torch.Generator().manual_seed(1))
    good, bad = (chosen(*learned, validation=data) for data in (held, wrong))
    assert bad["prior_precision"] > 3 * good["prior_precision"]
    with pytest.raises(InputError, match="choose='validation' needs validation data, and there are none"):
        chosen(*learned, choose="validation")
    folds = chosen(*learned, validation=held, choose="folds")
    assert all(torch.equal(folds[name], value) for name, value in chosen(*learned).items())


def test_the_bias_beside_small_features_has_a_narrower_prior_unless_it_is_given() -> None:
    x, y = clouds(60, apart=2)
    x = x / x.norm(dim=1, keepdim=True)
    spread = (x - x.mean(0)).square().sum(1).mean().item()
    stretch = chosen(x, y)["stretch"]
    assert stretch[-1].item() == pytest.approx((0.1 * spread) ** 0.5, rel=1e-4)
    assert (stretch[:-1] == 1).all()
    assert (chosen(100 * x, y)["stretch"] == 1).all()
    assert (chosen(x, y, prior_precision=1.0)["stretch"] == 1).all()


@pytest.mark.parametrize("items", [1, 2, 3])
def test_very_few_labels_are_enough(items: int) -> None:
    x, y = clouds(items, apart=2)
    assert all(value.isfinite().all() for value in chosen(x, y).values())


def test_more_than_a_thousand_outputs_choose_too() -> None:
    rng = torch.Generator().manual_seed(0)
    data = torch.randn(8, 4, generator=rng), torch.randint(1001, (8,), generator=rng)
    network = nn.Sequential(nn.Linear(4, 1001))
    fitted = aw.fit(network, data, posterior=aw.laplace(form="diag"), training=QUICK)
    assert aw.predict(fitted, data[0], draws=3).mean.isfinite().all()


def test_a_large_full_covariance_is_refused_before_any_training() -> None:
    network = nn.Sequential(nn.Linear(4, 512), nn.Linear(512, 5000))
    data = torch.zeros(600, 4), torch.arange(600)
    with pytest.raises(InputError, match=r"full laplace of 513 x 5,000 weights needs 52\.6 TB"):
        aw.fit(network, data, posterior=aw.laplace(form="full"), training=Training(epochs=10**6))
    with pytest.raises(InputError, match="'0' is Conv1d"):
        aw.fit(
            nn.Sequential(nn.Conv1d(1, 2, 3), nn.Flatten()),
            (torch.zeros(2, 1, 3), torch.arange(2)),
            posterior=aw.laplace(),
        )


def test_few_items_have_a_full_covariance_of_many_features() -> None:
    x = torch.randn(5, 2000, generator=torch.Generator().manual_seed(0))
    config = aw.laplace(form="full", prior_precision=1.0)
    fitted = aw.fit(
        nn.Sequential(nn.Linear(2000, 3)), (x, torch.arange(5) % 3), posterior=config, training=QUICK
    )
    assert fitted.state["0.all"].shape == (15, 15)


def test_bad_options_are_refused() -> None:
    with pytest.raises(InputError, match="unknown form 'kro'; did you mean 'kron'"):
        aw.laplace(form="kro")
    with pytest.raises(InputError, match="prior_precision must be above 0"):
        aw.laplace(prior_precision=0.0)
    with pytest.raises(InputError, match="unknown way to choose 'fold'; did you mean 'folds'"):
        aw.laplace(choose="fold")
    with pytest.raises(InputError, match="prior_precision is given; leave out choose='folds', or it"):
        aw.laplace(prior_precision=1.0, choose="folds")


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


@pytest.mark.slow
def test_given_its_prior_it_has_the_spread_and_the_ranking_of_the_exact_posterior() -> None:
    """Softmax regression on twenty axes of 300 digits; the diagonal form is the control."""
    data = aw.data.load("digits")
    x = data.train_x.flatten(1) - data.train_x.flatten(1).mean(0)
    axes = torch.linalg.svd(x, full_matrices=False).Vh[:20]
    x = x @ axes.T / (x @ axes[0]).std()
    labelled, pool = (x[:300], data.train_y[:300]), x[300:]
    with_one = torch.cat([labelled[0], torch.ones(300, 1)], 1).double()
    exact, r_hat = sampled(with_one, labelled[1], classes=10, precision=1.0)
    assert r_hat < 1.01
    exact = exact.flatten(0, 1)
    drawn = (torch.cat([pool, torch.ones(len(pool), 1)], 1).double() @ exact[::4].mT).transpose(0, 1)
    wanted = classification().summary(drawn.log_softmax(-1)).epistemic

    def compared(config: laplace.Config) -> tuple[Tensor, float]:
        """Standard deviations over the exact ones, and the rank correlation of BALD with the exact one."""
        fitted = aw.fit(nn.Sequential(nn.Linear(20, 10)), labelled, posterior=config, training=QUICK)
        found = aw.predict(fitted, pool, draws=800).epistemic.double()
        ranks = torch.stack([wanted, found]).argsort(1).argsort(1).double()
        spread = covariance(fitted, "0").diagonal().sqrt()
        return spread / exact.flatten(1).std(0), torch.corrcoef(ranks)[0, 1].item()

    ratios, rank = compared(aw.laplace(form="full", prior_precision=1.0))
    assert 0.85 < ratios.min() < ratios.max() < 1.15
    assert rank > 0.9
    assert compared(aw.laplace(form="diag", prior_precision=1.0))[0].min() < 0.85
    assert compared(aw.laplace())[1] > 0.9  # narrower, and it still tells what is uncertain


@pytest.mark.slow
def test_its_draws_predict_digits_as_well_as_its_mode() -> None:
    """NLL at most 5 % and ECE at most .001 higher, in the mean; one precision for both is the control."""
    data = aw.data.load("digits")
    totals: dict[str, list[float]] = {}
    for seed in range(3):
        some = torch.randperm(len(data.train_x), generator=torch.Generator().manual_seed(seed))[:1000]
        labelled = data.train_x[some], data.train_y[some]
        network, still = aw.nets.digits_cnn(), Training(epochs=1, lr=1e-12)
        point = aw.fit(
            network, labelled, posterior=aw.point(), training=Training(epochs=50), start="scratch", seed=seed
        )
        for way in ("folds", "evidence"):
            fitted = aw.fit(point.network, labelled, posterior=aw.laplace(choose=way), training=still)
            mode = Fitted(fitted.network, aw.point(), fitted.task, {}, fitted.history)
            for who, model in (("draws", fitted), ("mode", mode)):
                found = aw.evaluate(model, (data.test_x, data.test_y), draws=100)
                for name in ("nll", "ece"):
                    totals.setdefault(f"{way} {who} {name}", []).append(float(found[name]))
    mean = {name: sum(values) / len(values) for name, values in totals.items()}
    assert mean["folds draws nll"] < 1.05 * mean["folds mode nll"]
    assert mean["folds draws ece"] < mean["folds mode ece"] + 0.001
    assert mean["evidence draws nll"] > 1.5 * mean["evidence mode nll"]
    assert mean["evidence draws ece"] > 2 * mean["evidence mode ece"]
