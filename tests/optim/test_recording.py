"""What cannot be heard by the hooks is refused by name, and no hook stays behind."""

import pytest
import torch
from torch import Tensor, nn

from askwise.errors import InputError
from askwise.optim.layers import gaussian_layers
from askwise.optim.recording import recording


def hooks(network: nn.Module) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in network.modules())


def run(network: nn.Module, x: Tensor) -> None:
    with recording(network, gaussian_layers(network)) as record:
        network(x).square().mean().backward()
    record.squares()


class Merged(nn.Module):
    """Positions and items on one axis: whose gradient is whose cannot be seen."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense(x.flatten(0, 1)).view(len(x), -1)


class Aside(nn.Module):
    """Uses a layer's weights without calling it."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.dense.weight.T


def test_items_that_are_not_on_the_first_axis_are_refused() -> None:
    with pytest.raises(InputError, match=r"layer 'dense' is called on \[20, 3\] for a batch of 4 items"):
        run(Merged(), torch.ones(4, 5, 3))


def test_weights_used_without_a_call_are_refused() -> None:
    with pytest.raises(InputError, match="weights of layer 'dense' are used without calling it"):
        run(Aside(), torch.ones(4, 3))


def test_two_calls_of_the_network_are_refused() -> None:
    network = nn.Sequential(nn.Linear(3, 2))
    with recording(network, gaussian_layers(network)):
        network(torch.ones(4, 3))
        with pytest.raises(InputError, match="call the network once inside sampling"):
            network(torch.ones(4, 3))


def test_a_call_of_a_part_alone_is_refused() -> None:
    network = nn.Sequential(nn.Linear(3, 2))
    with (
        pytest.raises(InputError, match="call the network itself inside sampling"),
        recording(network, gaussian_layers(network)),
    ):
        network[0](torch.ones(4, 3))


def test_no_hook_stays_behind() -> None:
    network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 2))
    with recording(network, gaussian_layers(network)):
        assert hooks(network) == 3
        network(torch.ones(2, 1, 4, 4)).sum().backward()
    assert hooks(network) == 0


def test_a_layer_that_is_not_called_has_squares_of_zero() -> None:
    class Spare(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.spare = nn.Linear(3, 2), nn.Linear(3, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.used(x)

    network = Spare()
    with recording(network, gaussian_layers(network)) as record:
        network(torch.ones(4, 3)).sum().backward()
    found = record.squares()
    assert found[network.spare.weight].abs().sum() == 0 < found[network.used.weight].abs().sum()


def test_what_is_computed_without_gradients_does_not_count() -> None:
    network = nn.Sequential(nn.Linear(3, 2))
    with recording(network, gaussian_layers(network)) as record:
        network(torch.ones(4, 3)).sum().backward()
        with torch.no_grad():
            network[0](torch.ones(9, 3))
    assert record.squares()[network[0].bias].tolist() == [16.0, 16.0]
