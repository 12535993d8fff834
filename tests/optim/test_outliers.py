"""An outlier among the gradients moves a weight a little, and not for as long as the momentum keeps it."""

import math

import pytest
import torch
from torch import Tensor, nn

from askwise.errors import InputError
from askwise.optim import IVON, VOGN
from askwise.optim.sampling import without_outliers

LR, RADIUS, ITEMS = 0.1, 0.5, 16
CURVATURE = torch.tensor([1.0, 1.0, 2.0, 100.0, 100.0])
GRADIENT = torch.tensor([2.0, -0.1, -9.0, 4.0, 900.0])


def calmed(gradient: Tensor = GRADIENT, **group: float | None) -> list[float]:
    told = {"clip_radius": RADIUS, "batch_size": ITEMS, "lr": LR, **group}
    return without_outliers(gradient, CURVATURE, added=0.5, group=told).tolist()


def test_a_gradient_is_cut_at_three_radii_or_at_the_noise_of_a_batch() -> None:
    # Three radii are 1.5 (curvature + .5) here, the noise that is let through is .375 sqrt(curvature).
    assert calmed() == pytest.approx([2.0, -0.1, -3.75, 4.0, 150.75])
    assert calmed(clip_radius=0.001) == pytest.approx([0.375, -0.1, -0.375 * math.sqrt(2), 3.75, 3.75])
    assert calmed(-GRADIENT, clip_radius=0.001) == [-one for one in calmed(clip_radius=0.001)]


def test_the_noise_that_is_let_through_grows_as_the_steps_get_smaller() -> None:
    early, late = (calmed(clip_radius=0.001, initial_lr=LR * times)[2] for times in (1, 4))
    assert late == pytest.approx(4 * early)
    assert calmed(lr=0.0, initial_lr=LR) == GRADIENT.tolist()


def test_a_rate_above_the_first_cuts_no_more_than_the_first() -> None:
    assert calmed(clip_radius=0.001, initial_lr=LR / 25) == calmed(clip_radius=0.001)


def test_a_batch_size_needs_a_radius() -> None:
    network = nn.Linear(1, 1)
    for made in (ivon, vogn):
        with pytest.raises(InputError, match="needs a clip_radius"):
            made(network, 64, radius=math.inf)


def test_without_a_batch_size_nothing_is_cut() -> None:
    assert calmed(batch_size=None) == GRADIENT.tolist()


def test_towards_the_end_a_skewed_gradient_keeps_its_mean_however_small_the_radius() -> None:
    rng = torch.Generator().manual_seed(0)
    gradient = (torch.rand(20_000, 64, generator=rng) < 0.05).float().mean(1) - 0.05  # as errors are
    curvature = torch.full_like(gradient, 0.05 * 0.95)

    def bias(pace: float) -> float:
        group = {"clip_radius": 1e-6, "batch_size": 64, "lr": pace, "initial_lr": 1.0}
        return abs(float(without_outliers(gradient, curvature, added=0.0, group=group).mean()))

    spread = float(gradient.std())
    assert bias(0.5) < 0.01 * spread
    assert bias(1.0) > 0.03 * spread  # the control: while it is cut as far as in the first step


def moved_by_an_outlier(optimizer: IVON | VOGN, network: nn.Linear) -> float:
    """How far one gradient of a million goes, after forty that are zero and before forty more."""
    before = network.weight.detach().clone()
    for number in range(81):
        with optimizer.sampling():
            outputs = network(torch.ones(1, 1))
            if isinstance(optimizer, VOGN):  # its curvature does not see the outlier
                optimizer.gauss_newton(outputs, torch.ones(1, 1), torch.zeros(1, 1))
            (outputs * (1e6 if number == 40 else 0.0)).sum().backward()
        optimizer.step()
    return float((network.weight.detach() - before).abs().max())


def ivon(network: nn.Linear, batch_size: int | None, *, radius: float = RADIUS) -> IVON:
    return IVON(
        network.parameters(),
        lr=LR,
        count=1.0,
        rng=torch.Generator().manual_seed(0),
        hess_init=1.0,
        betas=(0.9, 0.9999999),  # the curvature stays where it starts
        weight_decay=0.0,
        clip_radius=radius,
        batch_size=batch_size,
    )


def vogn(network: nn.Linear, batch_size: int | None, *, radius: float = RADIUS) -> VOGN:
    return VOGN(
        network,
        lr=LR,
        count=1e12,
        rng=torch.Generator().manual_seed(0),
        curvature="gauss_newton",
        prior_precision=1e-6,
        damping=0.0,
        clip_radius=radius,
        batch_size=batch_size,
    )


@pytest.mark.parametrize("made", [ivon, vogn])
def test_an_outlier_moves_a_weight_about_as_far_as_three_steps_may(made) -> None:
    def moved(batch_size: int | None) -> float:
        network = nn.Linear(1, 1)
        nn.init.zeros_(network.weight)
        nn.init.zeros_(network.bias)
        return moved_by_an_outlier(made(network, batch_size), network)

    assert 2 * LR * RADIUS < moved(64) < 3.5 * LR * RADIUS
    assert (
        moved(None) > 35 * LR * RADIUS
    )  # the control: as large as it is, it makes every step as long as one may be
