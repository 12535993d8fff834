"""A network trained in a loop of one's own becomes a model that predicts, scores and is saved."""

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import askwise as aw
from askwise.errors import InputError

X = torch.randn(60, 4, generator=torch.Generator().manual_seed(0))
Y = (X[:, 0] > 0).long()


def trained(kind: str) -> tuple[nn.Module, object]:
    torch.manual_seed(0)
    network, rng = aw.nets.mlp(4, 2, hidden=(8,)), torch.Generator().manual_seed(1)
    if kind == "vogn":
        optimizer = aw.optim.VOGN(network, lr=0.1, count=60, rng=rng)
    elif kind == "ivon":
        optimizer = aw.optim.IVON(network.parameters(), lr=0.1, count=60, rng=rng)
    else:
        last = list(network[-1].parameters())
        gaussian = aw.optim.IVON(last, lr=0.1, count=60, rng=rng)
        rest = [p for p in network.parameters() if all(p is not q for q in last)]
        optimizer = aw.optim.Beside(gaussian, rest, lr=1e-3)
    for _ in range(200):
        with optimizer.sampling():
            F.cross_entropy(network(X), Y).backward()
        optimizer.step()
    return network, optimizer


@pytest.mark.parametrize("kind", ["vogn", "ivon", "beside"])
def test_draws_have_the_means_and_deviations_of_the_optimizer(kind: str) -> None:
    network, optimizer = trained(kind)
    fitted = aw.Fitted.of(network, optimizer)
    gaussian = optimizer.gaussian if kind == "beside" else optimizer
    draws = fitted.posterior.draw(fitted.network, fitted.state, numbers=range(4000), seed=0, dropouts=())
    names = {name: p for name, p in network.named_parameters() if p in gaussian.state}
    assert draws.keys() == names.keys()
    for name, parameter in names.items():
        std = gaussian.std(parameter)
        torch.testing.assert_close(
            draws[name].mean(0), parameter.detach(), rtol=0, atol=0.1 * std.max().item()
        )
        torch.testing.assert_close(draws[name].std(0), std, rtol=0.1, atol=0)


@pytest.mark.parametrize("kind", ["vogn", "ivon", "beside"])
def test_it_predicts_scores_and_is_saved(kind: str, tmp_path: Path) -> None:
    network, optimizer = trained(kind)
    fitted = aw.Fitted.of(network, optimizer)
    assert aw.evaluate(fitted, (X, Y))["accuracy"] > 0.8
    scores = aw.score_pool(fitted, X, "bald")
    assert (scores > 1e-6).any()
    fitted.save(tmp_path / "model")
    assert torch.equal(aw.score_pool(aw.load(tmp_path / "model"), X, "bald"), scores)


def test_a_plainly_trained_network_is_a_point() -> None:
    network = nn.Linear(4, 2)
    for optimizer in (None, torch.optim.Adam(network.parameters())):
        fitted = aw.Fitted.of(network, optimizer)
        assert fitted.posterior == aw.point()
        torch.testing.assert_close(aw.predict(fitted, X).mean, network(X).softmax(dim=1).detach())


def test_an_optimizer_of_another_network_is_refused() -> None:
    _, optimizer = trained("vogn")
    with pytest.raises(InputError, match="has trained another network"):
        aw.Fitted.of(aw.nets.mlp(4, 2, hidden=(8,)), optimizer)


def test_later_training_does_not_change_the_model() -> None:
    network, optimizer = trained("vogn")
    fitted = aw.Fitted.of(network, optimizer)
    before = fitted.digest()
    with torch.no_grad():
        network[-1].weight.add_(1.0)
    assert fitted.digest() == before
