"""What every contestant shares: the same network with the same weights, the same items, the same formula."""

import math
from collections import OrderedDict
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

BATCH = 256
STD = math.log1p(math.exp(-3.0))  # of every Gaussian weight: rho = -3, where all three libraries can start


def rows(file: str, count: int) -> Tensor:
    """The first rows of a .npy file, in memory."""
    return torch.from_numpy(np.array(np.load(file, mmap_mode="r")[:count]))


def gal_cnn() -> nn.Sequential:
    """Gal's CNN in plain torch, for environments without askwise; a test holds it to askwise's."""
    torch.manual_seed(0)
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(1, 32, 4),
            relu1=nn.ReLU(),
            conv2=nn.Conv2d(32, 32, 4),
            pool=nn.MaxPool2d(2),
            relu2=nn.ReLU(),
            dropout1=nn.Dropout(0.25),
            flatten=nn.Flatten(),
            dense1=nn.Linear(32 * 11 * 11, 128),
            relu3=nn.ReLU(),
            dropout2=nn.Dropout(0.5),
            dense2=nn.Linear(128, 10),
        )
    )


def early_dropout() -> nn.Sequential:
    """The same with another dropout behind the first convolution: little is left to compute once."""
    network = gal_cnn()
    layers = list(network.named_children())
    layers.insert(2, ("dropout0", nn.Dropout(0.25)))
    return nn.Sequential(OrderedDict(layers))


class Encoder(nn.Module):
    """A transformer of MiniLM's size (six layers of 384) with dropout in all of them."""

    def __init__(self, words: int = 1_000, width: int = 384, layers: int = 6) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 12, 4 * width, dropout=0.1, batch_first=True)
        self.embed = nn.Embedding(words, width)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.out = nn.Linear(width, 10)

    def forward(self, words: Tensor) -> Tensor:
        """Logits of sentences, given as the numbers of their words [n, L]."""
        return self.out(self.layers(self.embed(words)).mean(dim=1))


def encoder() -> Encoder:
    """The transformer with the weights everybody begins with."""
    torch.manual_seed(0)
    return Encoder()


def bald(log_probs: Tensor) -> Tensor:
    """BALD of log-probabilities [N, T, C], as its paper writes it."""
    mean = log_probs.logsumexp(1) - math.log(log_probs.shape[1])
    return -(mean.exp() * mean).sum(-1) + (log_probs.exp() * log_probs).sum(-1).mean(1)


def passes(network: Callable[[Tensor], Tensor], x: Tensor, draws: int, redraw: Callable[[], None]) -> Tensor:
    """BALD after `draws` whole passes over batches; `redraw` makes new weights before each pass."""
    found = []
    with torch.no_grad():
        for _ in range(draws):
            redraw()
            found.append(torch.cat([network(part).log_softmax(-1) for part in x.split(BATCH)]))
        return bald(torch.stack(found, dim=1))
