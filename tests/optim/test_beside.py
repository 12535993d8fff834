"""IVON and Adam, each with its own parameters, move as they would alone."""

import torch
from torch import nn

from askwise.optim.beside import Beside
from askwise.optim.ivon import IVON


def made(samples: int = 1) -> tuple[nn.Sequential, Beside]:
    rng = torch.Generator().manual_seed(0)
    network = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    with torch.no_grad():
        for p in network.parameters():
            p.normal_(generator=rng)
    ivon = IVON(network[2].parameters(), lr=0.1, count=10, rng=rng, samples=samples)
    return network, Beside(ivon, list(network[0].parameters()), lr=0.01)


def learn(network: nn.Module, optimizer: Beside, steps: int) -> None:
    for _ in range(steps):
        for _ in range(optimizer.samples):
            with optimizer.sampling():
                network(torch.ones(5, 3)).square().mean().backward()
        optimizer.step()


def test_only_its_own_parameters_are_perturbed_and_all_learn() -> None:
    network, optimizer = made(samples=2)
    before = [p.detach().clone() for p in network.parameters()]
    with optimizer.sampling():
        same = [torch.equal(p, b) for p, b in zip(network.parameters(), before, strict=True)]
        network(torch.ones(5, 3)).square().mean().backward()
    assert same == [True, True, False, False]
    with optimizer.sampling():
        network(torch.ones(5, 3)).square().mean().backward()
    optimizer.step()
    assert not any(torch.equal(p, b) for p, b in zip(network.parameters(), before, strict=True))


def test_saved_and_loaded_it_goes_on_to_the_bit(tmp_path) -> None:
    network, optimizer = made()
    learn(network, optimizer, steps=3)
    torch.save([network.state_dict(), optimizer.state_dict()], tmp_path / "state")
    learn(network, optimizer, steps=3)
    again, resumed = made()
    weights, state = torch.load(tmp_path / "state", weights_only=True)
    again.load_state_dict(weights)
    resumed.load_state_dict(state)
    learn(again, resumed, steps=3)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), again.parameters(), strict=True))
