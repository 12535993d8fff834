"""The plain PyTorch loop: what a careful user writes without a library."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from peers.common import STD, early_dropout, encoder, gal_cnn, passes, rows


def _dropout(make: Callable[[], nn.Module]) -> Callable[..., Callable[[], Tensor]]:
    """Dropout on, T passes."""

    def prepared(*, file: str, n: int, draws: int) -> Callable[[], Tensor]:
        network, x = make().train(), rows(file, n)
        return lambda: passes(network, x, draws, lambda: None)

    return prepared


def bnn1(*, file: str, n: int, draws: int) -> Callable[[], Tensor]:
    """A new last layer, then a whole pass, T times."""
    return _gaussian(["dense2.weight"], file, n, draws)


def all_bayesian(*, file: str, n: int, draws: int) -> Callable[[], Tensor]:
    """New weights of every layer, then a whole pass, T times."""
    return _gaussian([f"{layer}.weight" for layer in ("conv1", "conv2", "dense1", "dense2")], file, n, draws)


def _gaussian(names: list[str], file: str, n: int, draws: int) -> Callable[[], Tensor]:
    network, x = gal_cnn().eval(), rows(file, n)
    weights = [network.get_parameter(name) for name in names]
    means = [weight.detach().clone() for weight in weights]

    def redraw() -> None:
        for weight, mean in zip(weights, means, strict=True):
            weight.copy_(mean + STD * torch.randn_like(mean))

    return lambda: passes(network, x, draws, redraw)


def train(*, file: str, n: int, epochs: int, batch: int) -> Callable[[], dict]:
    """Adam over a shuffling DataLoader."""
    return _loop(gal_cnn, rows(file, n), epochs, batch)


def train_small(*, n: int, epochs: int, batch: int) -> Callable[[], dict]:
    """The same for a small dense network on vectors."""
    x = torch.rand(n, 64, generator=torch.Generator().manual_seed(0))
    return _loop(lambda: nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)), x, epochs, batch)


def _loop(make: Callable[[], nn.Module], x: Tensor, epochs: int, batch: int) -> Callable[[], dict]:
    y = torch.arange(len(x)) % 10

    def run() -> dict:
        network = make().train()
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
        for _ in range(epochs):
            for images, labels in DataLoader(TensorDataset(x, y), batch_size=batch, shuffle=True):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(network(images), labels)
                loss.backward()
                optimizer.step()
        return {"loss": loss.item()}

    return run


TASKS = {
    "mc_dropout": _dropout(gal_cnn),
    "early_dropout": _dropout(early_dropout),
    "encoder": _dropout(encoder),
    "bnn1": bnn1,
    "all_bayesian": all_bayesian,
    "train": train,
    "train_small": train_small,
}
