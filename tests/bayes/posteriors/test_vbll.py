"""The variational last layer is exact where it can be, and its bound is one."""

import copy

import pytest
import torch
from linear_gaussian import linear_gaussian
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import vbll
from askwise.errors import InputError
from askwise.tasks import classification, multilabel, regression
from askwise.train import Training


def data(count: int = 40) -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(0)
    y = torch.arange(count) % 3
    return torch.randn(count, 6, generator=rng) + nn.functional.one_hot(y, 6), y


@pytest.mark.parametrize("form", ["dense", "diag"])
def test_linear_gaussian_data_have_the_exact_or_the_mean_field_posterior(form: str) -> None:
    known = linear_gaussian(bias=True)
    fitted: Fitted | None = None
    for lr in (5e-2, 5e-3):
        fitted = aw.fit(
            known.network(),
            known.data,
            posterior=aw.vbll(form=form, prior_std=known.prior_std, kl_weight=1.0),
            task=regression(tau=known.tau, standardise=False),
            training=Training(epochs=200, lr=lr, batch_size=200),
            start=fitted or "given",
        )
    assert fitted is not None
    for name, value in known.parts(known.mean).items():
        torch.testing.assert_close(fitted.network.get_parameter(name).detach(), value, rtol=1e-4, atol=1e-5)
    spread = vbll.root(fitted.state["dense.factor"])[0].double()
    if form == "dense":
        wanted = torch.linalg.inv(known.precision)
        torch.testing.assert_close(spread @ spread.T, wanted, rtol=1e-3, atol=1e-3 * wanted.max().item())
    else:
        torch.testing.assert_close(spread, known.mean_field_std, rtol=1e-3, atol=0)


def layer_of(form: str, *, bias: bool = True) -> tuple[nn.Linear, vbll.GaussianOutputs]:
    rng = torch.Generator().manual_seed(1)
    plain = nn.Linear(4, 3, bias=bias)
    logs = torch.full((3, 4 + bias), -1.5)
    start = torch.diag_embed(logs) if form == "dense" else logs
    return plain, vbll.GaussianOutputs(plain, start + 0.1 * torch.randn(start.shape, generator=rng))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("form", ["dense", "diag"])
def test_variances_are_those_of_the_drawn_outputs(form: str, bias: bool) -> None:
    plain, layer = layer_of(form, bias=bias)
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(layer(x), plain(x))
    draws = aw.vbll().draw(
        nn.Sequential(plain),
        {"0.factor": layer.factor.detach()},
        numbers=range(3000),
        seed=0,
        dropouts=(),
    )
    outputs = torch.einsum("tcd,nd->tnc", draws["0.weight"], x)
    outputs = outputs + draws["0.bias"][:, None] if bias else outputs
    torch.testing.assert_close(outputs.var(0), layer.variance.detach(), rtol=0.1, atol=0)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("form", ["dense", "diag"])
def test_the_divergence_is_that_of_torch(form: str, bias: bool) -> None:
    plain, layer = layer_of(form, bias=bias)
    mean = plain.weight if plain.bias is None else torch.cat([plain.weight, plain.bias[:, None]], 1)
    root = vbll.root(layer.factor)
    scale = root if form == "dense" else torch.diag_embed(root)
    mine = torch.distributions.MultivariateNormal(mean, scale_tril=scale)
    prior = torch.distributions.MultivariateNormal(torch.zeros_like(mean), 0.49 * torch.eye(mean.shape[1]))
    expected = torch.distributions.kl_divergence(mine, prior).sum()
    torch.testing.assert_close(layer.kl(0.7), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("weights", [None, torch.tensor([0.2, 1.0, 5.0])], ids=["even", "weighted"])
@pytest.mark.parametrize(
    ("task", "labels", "exact"),
    [
        (classification(), torch.tensor([0, 1, 2, 1, 0]), False),
        (classification(ignore=-1), torch.tensor([0, -1, 2, 1, -1]), False),
        (multilabel(), torch.tensor([[0.0, 1, 1], [1, 0, -1], [0, 0, 1], [1, 1, 1], [-1, -1, 0.3]]), False),
        (regression(tau=2.0), torch.randn(5, 3, generator=torch.Generator().manual_seed(2)), True),
    ],
    ids=["classes", "ignored classes", "tags", "numbers"],
)
def test_the_loss_bounds_the_expected_one_and_is_equal_for_numbers(
    task, labels: Tensor, exact: bool, weights: Tensor | None
) -> None:
    weights = None if exact else weights  # numbers have no classes
    plain, layer = layer_of("dense")
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        bound = task.nll(layer(x), labels, weights)
        bound = bound + vbll._correction(task, layer, 3)(layer(x), labels, weights)
        draws = aw.vbll().draw(
            nn.Sequential(plain),
            {"0.factor": layer.factor},
            numbers=range(3000),
            seed=0,
            dropouts=(),
        )
        outputs = torch.einsum("tcd,nd->tnc", draws["0.weight"], x) + draws["0.bias"][:, None]
        each = torch.stack([task.nll(one, labels, weights) for one in outputs])
    noise = 4 * each.std() / len(each) ** 0.5
    assert bound > each.mean() - noise
    assert bound < 1.25 * each.mean()
    assert not exact or bound < each.mean() + noise


def test_shared_noise_is_learned_beside_the_layer_and_counts_the_variance() -> None:
    rng = torch.Generator().manual_seed(0)
    x, noise = torch.randn(2, 300, 3, generator=rng)
    y = x.sum(1, keepdim=True) + 0.5 * noise[:, :1]
    network = aw.nets.homoscedastic(nn.Sequential(nn.Linear(3, 1)))
    fitted = aw.fit(
        network,
        (x, y),
        posterior=aw.vbll(prior_std=1.0, kl_weight=1.0),
        task=regression(standardise=False),
        training=Training(epochs=60, lr=2e-2),
    )
    assert fitted.network.log_variance.exp().item() == pytest.approx(0.25, rel=0.2)
    found = aw.predict(fitted, x)
    assert 0 < found.epistemic.mean() < 0.1 * found.aleatoric.mean()


def test_more_labels_leave_less_uncertainty() -> None:
    network = aw.nets.mlp(6, 3, hidden=(8,))
    few, many = (
        aw.fit(network, data(count), posterior=aw.vbll(), training=Training(epochs=epochs, lr=1e-2))
        for count, epochs in ((30, 150), (300, 30))
    )
    x = data(60)[0]
    assert aw.predict(few, x).epistemic.mean() > 1.5 * aw.predict(many, x).epistemic.mean()


def test_the_networks_own_layer_is_back_after_learning() -> None:
    network = aw.nets.mlp(6, 3, hidden=(8,))
    before = copy.deepcopy(network.state_dict())
    fitted = aw.fit(network, data(), posterior=aw.vbll(), training=Training(epochs=2))
    assert type(fitted.network.dense2) is nn.Linear
    assert list(fitted.network.state_dict()) == list(before)
    assert all(not torch.equal(v, before[k]) for k, v in fitted.network.state_dict().items())


def test_what_it_has_no_bound_for_is_refused() -> None:
    x, y = data()
    network = aw.nets.mlp(6, 3, hidden=(8,))
    with pytest.raises(InputError, match="bound for softmax classes"):
        aw.fit(network, (x, y), posterior=aw.vbll(), task=classification(link="softplus"))
    with pytest.raises(InputError, match="noise that is not the last layer's own"):
        aw.fit(aw.nets.mlp(6, 2), (x, x[:, :1]), posterior=aw.vbll(), task="regression")
    with pytest.raises(InputError, match=r"513 x 300 weights has covariances of 78,950,700 numbers"):
        aw.fit(
            nn.Sequential(nn.Linear(512, 300)), (torch.zeros(1, 512), y[:1]), posterior=aw.vbll(form="dense")
        )
    fitted = aw.fit(network, (x, y), posterior=aw.vbll(form="diag"), training=Training(epochs=1))
    with pytest.raises(InputError, match="form='dense' from another"):
        aw.fit(network, (x, y), posterior=aw.vbll(form="dense"), start=fitted)
