"""Softmax regression under a Gaussian prior, sampled exactly: Hamiltonian Monte Carlo around its mode."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor


def sampled(
    phi: Float[Tensor, "N D"],
    y: Int64[Tensor, " N"],
    *,
    classes: int,
    precision: float,
    chains: int = 4,
    draws: int = 800,
    burn_in: int = 100,
) -> tuple[Float[Tensor, "draws chains C D"], float]:
    """Weights from the posterior, and the largest R-hat of any of them.

    In coordinates in which the curvature at the mode is the identity, so that a step is as long as
    it may be in every direction; the starts are far out.
    """
    truth = torch.nn.functional.one_hot(y, classes).double()

    def density(weights: Tensor) -> tuple[Tensor, Tensor]:
        """Log density of K weights [K, C, D] up to a constant, and its slope."""
        logs = (phi @ weights.mT).log_softmax(-1)
        value = (logs * truth).sum((1, 2)) - precision / 2 * weights.square().sum((1, 2))
        return value, (truth - logs.exp()).mT @ phi - precision * weights

    def curvature(weights: Tensor) -> Tensor:
        p = (phi @ weights.T).softmax(-1)
        each = torch.diag_embed(p) - p[:, :, None] * p[:, None]
        bend = torch.einsum("nck,nd,ne->cdke", each, phi, phi).reshape(weights.numel(), -1)
        return bend + precision * torch.eye(len(bend), dtype=torch.float64)

    mode = torch.zeros(classes, phi.shape[1], dtype=torch.float64)
    for _ in range(30):  # Newton's steps; half of one where it is too long
        step = torch.linalg.solve(curvature(mode), density(mode[None])[1].flatten()).view(mode.shape)
        while density((mode + step)[None])[0] < density(mode[None])[0]:
            step /= 2
        mode = mode + step
    root = torch.linalg.cholesky(torch.linalg.inv(curvature(mode)))

    def turned(at: Tensor) -> tuple[Tensor, Tensor]:
        value, slope = density((mode.flatten() + at @ root.T).view(-1, *mode.shape))
        return value, slope.flatten(1) @ root

    rng = torch.Generator().manual_seed(0)
    at = 2 * torch.randn(chains, mode.numel(), generator=rng, dtype=torch.float64)
    value, slope = turned(at)
    pace, kept = 0.9 * mode.numel() ** -0.25, []
    for _ in range(burn_in + draws):
        push = torch.randn(at.shape, generator=rng, dtype=torch.float64)
        new, there, pull, moved = at, value, slope, push
        for _ in range(int(torch.randint(6, 13, (1,), generator=rng))):
            moved = moved + pace / 2 * pull
            new = new + pace * moved
            there, pull = turned(new)
            moved = moved + pace / 2 * pull
        gain = there - value + (push.square() - moved.square()).sum(1) / 2
        yes = torch.rand(chains, generator=rng, dtype=torch.float64).log() < gain
        at, slope = (torch.where(yes[:, None], *pair) for pair in ((new, at), (pull, slope)))
        value = torch.where(yes, there, value)
        kept.append(at)
    found = mode.flatten() + torch.stack(kept[burn_in:]) @ root.T
    within, between = found.var(0).mean(0), found.mean(0).var(0)
    return found.view(draws, chains, *mode.shape), (1 + between / within).sqrt().max().item()
