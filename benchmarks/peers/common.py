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
