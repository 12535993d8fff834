"""Pseudo-labels (Lee 2013): a network learns its own guesses of unlabelled items, ever more of them."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F

from askwise.seeding import derive, generator, torch_stream


def pseudo_labels(
    network: nn.Module,
    labelled: tuple[Float[Tensor, "N ..."], Int64[Tensor, " N"]],
    unlabelled: Float[Tensor, "M ..."],
    *,
    steps: int,
    seed: int,
    lr: float = 1e-3,
    batch_size: int = 32,
    unlabelled_batch_size: int = 128,
    weight: float = 3.0,
) -> nn.Module:
    """The network after learning, which changes it: labels as they are, the rest as it guesses them.

    The guesses weigh nothing for the first sixth of the steps, and grow to `weight` until two thirds
    are done; Lee's schedule has the same form, from epoch 100 to 600.
    """
    x, y = labelled
    rng = generator(seed, "pseudo", "order")
    optimizer = torch.optim.Adam(network.parameters(), lr=lr)
    first, last = steps / 6, 2 * steps / 3
    network.train()
    with torch_stream(derive(seed, "pseudo", "network")):
        for number in range(steps):
            alpha = weight * min(max((number - first) / (last - first), 0.0), 1.0)
            at = torch.randint(len(x), (min(batch_size, len(x)),), generator=rng)
            loss = F.cross_entropy(network(x[at]), y[at])
            if alpha > 0:
                inputs = unlabelled[torch.randint(len(unlabelled), (unlabelled_batch_size,), generator=rng)]
                outputs = network(inputs)
                loss = loss + alpha * F.cross_entropy(outputs, outputs.detach().argmax(dim=1))
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
    return network.eval()


@torch.no_grad()
def accuracy(network: nn.Module, x: Float[Tensor, "N ..."], y: Int64[Tensor, " N"]) -> float:
    """The share of items whose likeliest class is theirs; dropout is off."""
    network.eval()
    parts = torch.split(torch.arange(len(x)), 500)
    hits = [(network(x[at]).argmax(dim=1) == y[at]).sum() for at in parts]
    return float(torch.stack(hits).sum()) / len(x)
