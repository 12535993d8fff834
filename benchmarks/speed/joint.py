"""Made-up predictions for BatchBALD, and a referee that none of the contestants uses."""

import math

import torch
from torch import Tensor

DRAWS, CLASSES = 100, 10
_CHUNK = 20_000


def predictions(
    n: int, *, spread: float, draws: int = DRAWS, classes: int = CLASSES, seed: int = 0
) -> Tensor:
    """Log-probs [N, T, C] of a linear layer on 64 features, under draws of its weights."""
    rng = torch.Generator().manual_seed(seed)
    features = torch.randn(n, 64, generator=rng) / 8
    mean = 3 * torch.randn(64, classes, generator=rng)
    noise = torch.randn(draws, 64, classes, generator=rng)
    return torch.einsum("nd,tdc->ntc", features, mean + spread * noise).log_softmax(-1)


def joint_score(log_probs: Tensor, chosen: list[int], *, samples: int = 100_000) -> tuple[float, float]:
    """Mutual information of the chosen labels and the draws, and its standard error, by plain sampling."""
    rng = torch.Generator().manual_seed(1)
    logs, draws = log_probs[chosen].double(), log_probs.shape[1]
    told = []
    for _ in range(max(1, samples // _CHUNK)):
        draw = torch.arange(_CHUNK) % draws
        total = torch.zeros(_CHUNK, draws, dtype=torch.float64)
        for one in logs:
            label = torch.multinomial(one[draw].exp(), 1, generator=rng).squeeze(1)
            total += one[:, label].T
        own = total[torch.arange(_CHUNK), draw]
        told.append(own - total.logsumexp(1) + math.log(draws))
    found = torch.cat(told)
    return found.mean().item(), found.std().item() / math.sqrt(len(found))
