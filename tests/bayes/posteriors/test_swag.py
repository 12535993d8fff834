"""SWAG keeps mean, variance and last deviations of the iterates, and draws from just that."""

import pytest
import torch
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.posteriors import swag
from askwise.errors import InputError
from askwise.train import Training


class Walk:
    """An optimizer that puts given weights in place, one after the other."""

    samples, parts = 1, ()

    def __init__(self, parameter: Tensor, path: Tensor) -> None:
        self.parameter, self.path, self.at = parameter, path, 0

    def sampling(self):
        raise NotImplementedError

    state_dict = load_state_dict = sampling

    def step(self) -> None:
        self.parameter.copy_(self.path[self.at])
        self.at += 1


def data(count: int = 40) -> tuple[Tensor, Tensor]:
    return torch.randn(count, 6, generator=torch.Generator().manual_seed(0)), torch.arange(count) % 3


def walked(path: Tensor, at: range, rank: int) -> dict[str, Tensor]:
    parameter = torch.zeros(path.shape[1:])
    trail = swag.Trail(Walk(parameter, path), {"w": parameter}, at=at, rank=rank)
    for _ in path:
        trail.step()
    torch.testing.assert_close(trail.mean["w"], path[list(at)].mean(0))
    return trail.state()


def test_mean_variance_and_deviations_are_those_of_the_chosen_iterates() -> None:
    path = 100 + torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    chosen = path[9::2]
    state = walked(path, range(9, 20, 2), rank=4)
    assert state["collected"] == 6
    torch.testing.assert_close(state["w.variance"], chosen.var(0, correction=0), rtol=1e-3, atol=1e-4)
    running = torch.stack([chosen[: k + 1].mean(0) for k in range(6)])  # as in the paper's algorithm
    torch.testing.assert_close(state["w.deviations"], (chosen - running)[-4:], rtol=1e-3, atol=1e-4)


def test_draws_have_half_the_diagonal_and_half_the_low_rank_covariance() -> None:
    network = nn.Sequential(nn.Linear(2, 2))
    fitted = aw.fit(
        network, (data()[0][:, :2], data()[1] % 2), posterior=aw.swag(rank=3), training=Training(epochs=20)
    )
    draws = fitted.posterior.draw(fitted.network, fitted.state, numbers=range(4000), seed=0, dropouts=())
    flat = torch.cat([draws["0.weight"].flatten(1), draws["0.bias"]], dim=1).double()
    deviations = torch.cat(
        [fitted.state["0.weight.deviations"].flatten(1), fitted.state["0.bias.deviations"]], dim=1
    ).double()
    variance = torch.cat([fitted.state["0.weight.variance"].flatten(), fitted.state["0.bias.variance"]])
    wanted = torch.diag(variance.double()) / 2 + deviations.T @ deviations / (2 * 2)
    noise = (wanted.diagonal().outer(wanted.diagonal()) + wanted.square()).div(4000).sqrt()
    assert ((torch.cov(flat.T) - wanted).abs() < 5 * noise).all()
    assert (wanted - torch.diag(wanted.diagonal())).abs().max() > 0.05 * wanted.max()


@pytest.mark.parametrize(
    ("steps", "iterates", "part", "expected"),
    [
        (100, 10, 0.5, list(range(54, 100, 5))),
        (100, 30, 0.5, list(range(70, 100))),
        (10, 30, 0.5, [5, 6, 7, 8, 9]),
        (4, 2, 1.0, [1, 3]),
    ],
)
def test_iterates_are_evenly_spaced_up_to_the_last_step(steps, iterates, part, expected) -> None:
    found = list(swag._collected(steps, swag.Config(iterates=iterates, part=part)))
    assert found == expected


def test_the_mean_is_in_the_network_and_is_not_where_training_ended() -> None:
    quick = Training(epochs=10)
    network = aw.nets.mlp(6, 3, hidden=(8,))
    mean = aw.fit(network, data(), posterior=aw.swag(), training=quick).network.dense1.weight
    end = aw.fit(network, data(), posterior=aw.point(), training=quick).network.dense1.weight
    assert 0 < (mean - end).abs().max() < 0.1


def test_statistics_of_batch_norm_are_those_of_the_mean_weights() -> None:
    network = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
    fitted = aw.fit(network, data(), posterior=aw.swag(), training=Training(epochs=10, batch_size=16))
    hidden = fitted.network[0](data()[0]).detach()
    torch.testing.assert_close(fitted.network[1].running_mean, hidden.mean(0))
    torch.testing.assert_close(fitted.network[1].running_var, hidden.var(0))
    assert fitted.network[1].momentum == 0.1
    assert not fitted.network.training


def test_one_point_has_no_spread() -> None:
    with pytest.raises(InputError, match="rank must be at least 2"):
        aw.swag(rank=1)
    with pytest.raises(InputError, match=r"part is a fraction .* not 1.5"):
        aw.swag(part=1.5)
    with pytest.raises(InputError, match=r"two steps in the last 0\.5 of training, and all of it has 2"):
        aw.fit(aw.nets.mlp(6, 3), data(), posterior=aw.swag(), training=Training(epochs=2))
