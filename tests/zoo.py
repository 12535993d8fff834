"""Small networks that are awkward in one way each; every one maps [N, ...] to logits [N, 3]."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Skip(nn.Module):
    """A skip connection around a layer with dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.head = nn.Linear(6, 8), nn.Linear(8, 8), nn.Linear(8, 3)
        self.dropout = nn.Dropout(0.4)

    def forward(self, x: Tensor) -> Tensor:
        h = self.first(x).relu()
        return self.head(h + self.dropout(self.second(h)))


class Twice(nn.Module):
    """One dropout module and one layer, each called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.start, self.shared, self.head = nn.Linear(6, 8), nn.Linear(8, 8), nn.Linear(8, 3)
        self.dropout = nn.Dropout(0.3)

    def forward(self, x: Tensor) -> Tensor:
        h = self.dropout(self.shared(self.start(x)).tanh())
        return self.head(self.dropout(self.shared(h)))


class Functional(nn.Module):
    """`F.dropout` with no module to find."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(F.dropout(self.body(x).relu(), 0.5, self.training))


class Attention(nn.Module):
    """Dropout inside attention, where the items are merged with the heads."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, dropout=0.3, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.attention(x, x, x)[0].mean(1))


class SequenceFirst(nn.Module):
    """The item axis is second while dropout runs, as recurrent networks like it."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout, self.head = nn.Dropout(0.3), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.dropout(x.transpose(0, 1)).mean(0))


class Lstm(nn.Module):
    """Dropout between the layers of an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 6, 2, dropout=0.4, batch_first=True), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.lstm(x)[0][:, -1])


class Gru(nn.Module):
    """Dropout between the layers of a GRU."""

    def __init__(self) -> None:
        super().__init__()
        self.gru, self.head = nn.GRU(8, 6, 2, dropout=0.4, batch_first=True), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.gru(x)[0][:, -1])


class Transformer(nn.Module):
    """Every dropout of an encoder layer."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.2, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.encoder(x).mean(1))


class Unpool(nn.Module):
    """Pooling indices used again after dropout; vmap has no rule for unpooling."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.back, self.head = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 2, 3), nn.Linear(72, 3)
        self.dropout = nn.Dropout2d(0.5)

    def forward(self, x: Tensor) -> Tensor:
        small, indices = F.max_pool2d(self.conv(x).relu(), 2, return_indices=True)
        return self.head(self.back(F.max_unpool2d(self.dropout(small), indices, 2)).flatten(1))


class InPlace(nn.Module):
    """Writes into a tensor that does not depend on the draws."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head, self.dropout = nn.Linear(6, 8), nn.Linear(8, 3), nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        kept = torch.zeros(x.shape[0], 8)
        kept[:, :4] = self.dropout(self.body(x))[:, :4]
        kept[:, 4:] += 1.0
        return self.head(kept)


class Branching(nn.Module):
    """Decides in Python on a value: no one graph describes it."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head, self.dropout = nn.Linear(6, 8), nn.Linear(8, 3), nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        h = self.body(x)
        h = h.relu() if h.sum() > 0 else h.tanh()
        return self.head(self.dropout(h))


def dense(*, layers: int = 2) -> nn.Module:
    """A perceptron with a mask before every dense layer but the first."""
    hidden = [m for _ in range(layers - 1) for m in (nn.Dropout(0.5), nn.Linear(8, 8), nn.ReLU())]
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), *hidden, nn.Dropout(0.2), nn.Linear(8, 3))


def normalised() -> nn.Module:
    """Batch norm before and after dropout."""
    return nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Dropout2d(0.3),
        nn.Conv2d(4, 4, 3),
        nn.BatchNorm2d(4),
        nn.Flatten(),
        nn.Linear(64, 3),
    )


def volumes() -> nn.Module:
    """Dropout1d and Dropout3d on either side of a reshape."""
    return nn.Sequential(
        nn.Conv1d(2, 4, 3, padding=1),
        nn.Dropout1d(0.3),
        nn.Unflatten(2, (2, 2, 2)),
        nn.Conv3d(4, 4, 1),
        nn.Dropout3d(0.3),
        nn.Flatten(),
        nn.Linear(32, 3),
    )


def pooled() -> nn.Module:
    """Dropout of channels before pooling, and of units, as the network of BatchBALD has it."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 3),
        nn.Dropout2d(0.5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Conv2d(6, 8, 3),
        nn.Dropout2d(0.3),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32, 10),
        nn.Dropout(0.5),
        nn.ReLU(),
        nn.Linear(10, 3),
    )


@dataclass(frozen=True)
class Case:
    """A network and the shape of one item for it."""

    build: Callable[[], nn.Module]
    item: tuple[int, ...]
    slow: str = ""
    """What the warning says where the fast way does not exist."""

    def network(self) -> nn.Module:
        with torch.random.fork_rng():
            torch.manual_seed(7)
            network = self.build()
            for module in network.modules():  # statistics that a mistake would move
                if isinstance(module, nn.modules.batchnorm._BatchNorm):
                    module.running_mean.normal_()
                    module.running_var.uniform_(0.5, 2)
        return network.eval()

    def inputs(self, count: int, seed: int = 0) -> Tensor:
        return torch.randn(count, *self.item, generator=torch.Generator().manual_seed(seed))


CASES = {
    "dense": Case(dense, (6,)),
    "deep dense": Case(lambda: dense(layers=4), (6,)),
    "skip": Case(Skip, (6,)),
    "twice": Case(Twice, (6,)),
    "functional": Case(Functional, (6,)),
    "attention": Case(Attention, (5, 8)),
    "sequence first": Case(SequenceFirst, (5, 8)),
    "lstm": Case(Lstm, (5, 8), slow="mkldnn_rnn_layer"),
    "gru": Case(Gru, (5, 8)),
    "transformer": Case(Transformer, (5, 8)),
    "unpool": Case(Unpool, (1, 8, 8), slow="max_unpool2d"),
    "in place": Case(InPlace, (6,)),
    "branching": Case(Branching, (6,), slow="whole network"),
    "normalised": Case(normalised, (1, 8, 8)),
    "volumes": Case(volumes, (2, 8)),
    "pooled": Case(pooled, (1, 14, 14)),
}
