"""Graphs are reused for networks of the same code and shapes, and for no others."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.program import build as building
from askwise.bayes.program.known import Memory, structure

X = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
Y = torch.tensor([0, 1, 0, 1, 0, 1])


class Scaled(nn.Module):
    """A network whose code depends on a plain setting."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.dense, self.out, self.scale = nn.Linear(4, 3), nn.Linear(3, 2), scale

    def forward(self, x: Tensor) -> Tensor:
        return self.out(torch.tanh(self.dense(x)) * self.scale)


def _fitted(network: nn.Module, seed: int) -> aw.Fitted:
    training = aw.Training(epochs=1, min_steps=1)
    return aw.fit(network, (X, Y), posterior=aw.bbb(all=True), training=training, seed=seed)


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[nn.Module]:
    """The networks that were traced, in a process that knows none yet."""
    seen: list[nn.Module] = []
    trace = building.trace

    def watched(network: nn.Module, *args: object, **options: object) -> object:
        seen.append(network)
        return trace(network, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(building, "trace", watched)
    monkeypatch.setattr(building, "_CUTS", Memory())
    return seen


def test_a_second_model_of_a_network_is_not_traced_and_predicts_with_its_own_weights(traced: list) -> None:
    first, second = _fitted(Scaled(), 0), _fitted(Scaled(), 1)
    one, two = aw.log_probs(first, X, draws=5), aw.log_probs(second, X, draws=5)
    assert len(traced) == 1
    assert not torch.equal(one, two)
    second.programs.clear()
    building._CUTS = Memory()
    assert torch.equal(aw.log_probs(second, X, draws=5), two)
    assert len(traced) == 2


def test_another_setting_is_another_network(traced: list) -> None:
    aw.log_probs(_fitted(Scaled(1.0), 0), X, draws=5)
    aw.log_probs(_fitted(Scaled(2.0), 0), X, draws=5)
    assert len(traced) == 2


def test_items_of_another_shape_and_other_numbers_of_draws_are_traced(traced: list) -> None:
    fitted = _fitted(Scaled(), 0)
    aw.log_probs(fitted, X, draws=5)
    aw.log_probs(fitted, X, draws=6)
    assert len(traced) == 2


def _with(change: Callable[[nn.Module], object]) -> nn.Module:
    network = Scaled()
    change(network)
    return network


@pytest.mark.parametrize(
    "change",
    [
        lambda network: setattr(network, "table", torch.ones(3)),
        lambda network: setattr(network, "forward", lambda x: Scaled.forward(network, 2 * x)),
        lambda network: network.register_forward_hook(lambda *_: network.scale),
        lambda network: setattr(network, "settings", object()),
    ],
    ids=["unregistered tensor", "own forward", "hook with a closure", "object"],
)
def test_nothing_is_remembered_where_settings_cannot_be_compared(
    change: Callable[[nn.Module], object],
) -> None:
    assert structure(Scaled()) is not None
    assert structure(_with(change)) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda network: setattr(network, "scale", 2.0),
        lambda network: setattr(network, "scale", 1),
        lambda network: setattr(network, "dense", nn.Linear(4, 3, bias=False)),
        lambda network: network.double(),
        lambda network: setattr(network.out, "weight", nn.Parameter(network.out.weight.detach().t())),
        lambda network: network.register_buffer("more", torch.zeros(2)),
        lambda network: setattr(network, "extra", nn.ReLU()),
    ],
    ids=["value", "type of a value", "no bias", "dtype", "shape", "buffer", "module"],
)
def test_structures_differ_where_a_graph_could(change: Callable[[nn.Module], object]) -> None:
    assert structure(_with(change)) not in (None, structure(Scaled()))
    assert structure(Scaled()) == structure(Scaled())


def test_shared_tensors_are_part_of_the_structure() -> None:
    def two() -> nn.Sequential:
        return nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))

    tied = two()
    tied[1].weight = tied[0].weight
    assert structure(tied) != structure(two())


def test_modes_and_weights_do_not_matter() -> None:
    network = Scaled()
    before = structure(network)
    with torch.no_grad():
        network.dense.weight.mul_(2)
    assert structure(network.train()) == before == structure(network.eval())


def test_the_oldest_finding_is_forgotten_first() -> None:
    memory, made = Memory(most=2), []

    def find(what: str) -> str:
        made.append(what)
        return what

    for what in ("a", "b", "a", "c", "a", "b"):
        assert memory.recall(Scaled(), what, find=lambda what=what: find(what)) == what
    assert made == ["a", "b", "c", "b"]
