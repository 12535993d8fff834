"""The last layer is found, refused by name where it will not do, and seen as prediction sees it."""

import copy
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.learning import TrainingJob
from askwise.bayes.posteriors import precision
from askwise.bayes.posteriors.curvature import curvature
from askwise.bayes.posteriors.last_layer import LastLayer, joined, last_linear, observe, parted, spanned
from askwise.bayes.posteriors.mode import mode
from askwise.errors import InputError
from askwise.tasks import Task, classification, regression
from askwise.train import Training, examples


def job(x: Tensor, y: Tensor, task: Task | None = None) -> TrainingJob:
    return TrainingJob(examples((x, y)), task or classification(), Training(), 0, torch.device("cpu"))


def seen_by(network: nn.Module, name: str, known: TrainingJob) -> LastLayer:
    return observe(network, name, known, known.data)


def inputs(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


class Behind(nn.Module):
    """A linear layer and something behind it."""

    def __init__(self, behind, *, calls: int = 1) -> None:
        super().__init__()
        self.head, self.behind, self.calls = nn.Linear(6, 6), behind, calls

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(self.calls):
            x = self.head(x)
        return self.behind(x)


def tied() -> nn.Module:
    network = nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 6))
    network[1].weight = network[0].weight
    return network


def frozen() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 3).requires_grad_(False))


@pytest.mark.parametrize(
    ("network", "shape", "message"),
    [
        (nn.Sequential(nn.Conv2d(1, 2, 3)), (1, 1, 4, 4), "Linear last layer, and '0' is Conv2d"),
        (nn.Sequential(nn.ReLU()), (1, 6), "calls a Linear layer last"),
        (tied(), (1, 6), "layer '1' shares its weight with '0'"),
        (frozen(), (1, 6), "last layer '1', and it is frozen"),
        (Behind(nn.Softmax(1)), (1, 6), "something follows 'head'"),
        (Behind(lambda z: 2 * z), (1, 6), "something follows 'head'"),
        (Behind(lambda z: torch.cat([z, z.square()], 1)), (1, 6), "something follows 'head'"),
        (Behind(nn.Identity(), calls=2), (1, 6), "'head' is called 2 times"),
        (Behind(lambda z: z[:, 0]), (1, 5, 6), "'head' is called on a sequence"),
    ],
)
def test_what_will_not_do_is_refused_by_name(
    network: nn.Module, shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        last_linear(network, inputs(*shape), who="laplace")


def test_a_shared_log_variance_behind_the_layer_is_no_hindrance() -> None:
    network = aw.nets.homoscedastic(nn.Sequential(nn.Linear(6, 2)), log_variance=-1.0)
    assert last_linear(network, inputs(1, 6), who="laplace") == "network.0"
    seen = seen_by(network, "network.0", job(inputs(5, 6), inputs(5, 2), regression()))
    assert torch.equal(seen.rest, torch.full((5, 2), -1.0))
    outputs = seen.outputs(seen.features, joined(network.network[0]).double(), slice(5))
    torch.testing.assert_close(outputs.float(), network(inputs(5, 6)), rtol=1e-5, atol=1e-5)


def test_features_are_those_of_prediction_and_leave_the_network_as_it_was() -> None:
    network = nn.Sequential(
        nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3)
    ).train()
    network(inputs(50, 6))  # statistics that differ from any batch's own
    x, before = inputs(600, 6), copy.deepcopy(network.state_dict())
    seen = seen_by(network, "4", job(x, torch.arange(600) % 3))
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert network.training
    expected = network.eval()[:4](x)
    torch.testing.assert_close(seen.features[:, :-1], expected)
    assert (seen.features[:, -1] == 1).all()
    assert torch.equal(seen.features @ joined(network[4]).T, seen.features @ joined(network[4]).T)
    torch.testing.assert_close(seen.features @ joined(network[4]).T, network(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
def test_a_matrix_joined_and_parted_is_the_layer(bias: bool) -> None:
    layer = nn.Linear(4, 3, bias=bias)
    parts = parted(layer, "head", joined(layer))
    assert {f"head.{name}" for name, _ in layer.named_parameters()} == set(parts)
    assert all(torch.equal(parts[f"head.{name}"], p) for name, p in layer.named_parameters())


def test_unknown_labels_count_neither_in_the_likelihood_nor_in_the_curvature() -> None:
    network, x = nn.Sequential(nn.Linear(6, 3)), inputs(4, 6)
    task = classification(ignore=-1)
    some = seen_by(network, "0", job(x, torch.tensor([0, -1, 2, -1]), task))
    known = seen_by(network, "0", job(x[[0, 2]], torch.tensor([0, 2]), task))
    weights = joined(network[0]).double()
    (both, few) = (m.outputs(m.features, weights, slice(4)) for m in (some, known))
    torch.testing.assert_close(
        some.log_likelihood(both, slice(4)), known.log_likelihood(few, slice(4)), rtol=1e-6, atol=0
    )
    d, u = some.fisher(both, slice(4), 3)
    assert not d[[1, 3]].any()
    assert not u[[1, 3]].any()
    torch.testing.assert_close(d[[0, 2]], known.fisher(few, slice(4), 3)[0])


@pytest.mark.parametrize(("items", "features"), [(40, 6), (6, 40), (7, 7)])
def test_the_span_keeps_every_item_and_its_axes_are_principal(items: int, features: int) -> None:
    phi = inputs(items, features)
    phi[-1] = phi[0] + phi[1]  # one item fewer to span
    whole = LastLayer(classification(), phi, torch.zeros(items, 0), torch.arange(items) % 3)
    model, axes = spanned(whole)
    rank = min(items - 1, features)
    assert axes.shape == (features, rank)
    unit = torch.eye(rank, dtype=torch.float64)
    torch.testing.assert_close(axes.T @ axes, unit, rtol=0, atol=1e-10)
    torch.testing.assert_close(model.features @ axes.T, phi.double(), rtol=0, atol=1e-5)
    moments = model.second_moments()
    torch.testing.assert_close(moments, torch.diag(model.mean_squares()), rtol=0, atol=1e-10 * moments.max())


def test_features_that_are_all_nought_have_one_axis() -> None:
    model, axes = spanned(LastLayer(classification(), torch.zeros(3, 5), torch.zeros(3, 0), torch.arange(3)))
    assert axes.shape == (5, 1)
    assert not model.features.any()


@pytest.mark.parametrize("how", ["weights", "often"])
@pytest.mark.parametrize("form", ["diag", "full"])
def test_a_balanced_training_counts_a_label_as_if_it_were_there_several_times(how: str, form: str) -> None:
    rng = torch.Generator().manual_seed(0)
    phi, labels = torch.randn(20, 3, generator=rng), torch.arange(20) % 3
    times = torch.tensor([1, 2, 4])
    plain = LastLayer(classification(), phi, torch.zeros(20, 0), labels)
    given = times.float() if how == "weights" else times[labels].float()
    counted, repeated = (
        replace(plain, **{how: given}),
        plain.part(torch.arange(20).repeat_interleave(times[labels])),
    )
    weights = torch.randn(3, 3, generator=rng, dtype=torch.float64)
    for one in (precision.log_likelihood, lambda model, at: curvature(form, model, at).values):
        found, wanted = one(counted, weights), one(repeated, weights)
        assert torch.as_tensor(found).allclose(torch.as_tensor(wanted), rtol=1e-5, atol=1e-5)
    modes = [mode(model, torch.zeros(3, 3, dtype=torch.float64), 1.0) for model in (counted, repeated, plain)]
    torch.testing.assert_close(modes[0], modes[1], rtol=1e-3, atol=1e-3)
    assert (modes[0] - modes[2]).abs().max() > 0.1  # the control: it does matter
    torch.testing.assert_close(
        precision.log_likelihood(counted.part(torch.arange(5)), weights),
        precision.log_likelihood(plain.part(torch.arange(5).repeat_interleave(times[labels[:5]])), weights),
    )
