"""An outlier among the gradients moves a weight a little, and not for as long as the momentum keeps it."""

import pytest
import torch
from torch import nn

from askwise.optim import IVON, VOGN
from askwise.optim.sampling import cut

LR, RADIUS = 0.1, 0.5


def test_a_gradient_is_cut_at_three_radii_of_curvature_and_otherwise_left_alone() -> None:
    gradient, curvature = torch.tensor([2.0, -0.1, -9.0, 4.0]), torch.tensor([1.0, 1.0, 2.0, 10.0])
    assert cut(gradient, curvature, RADIUS).tolist() == pytest.approx([1.5, -0.1, -3.0, 4.0])
    assert cut(gradient, curvature, float("inf")).equal(gradient)


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


def ivon(network: nn.Linear) -> IVON:
    return IVON(
        network.parameters(),
        lr=LR,
        count=1.0,
        rng=torch.Generator().manual_seed(0),
        hess_init=1.0,
        betas=(0.9, 0.9999999),  # the curvature stays where it starts
        weight_decay=0.0,
        clip_radius=RADIUS,
    )


def vogn(network: nn.Linear) -> VOGN:
    return VOGN(
        network,
        lr=LR,
        count=1e12,
        rng=torch.Generator().manual_seed(0),
        curvature="gauss_newton",
        prior_precision=1e-6,
        damping=0.0,
        clip_radius=RADIUS,
    )


@pytest.mark.parametrize("made", [ivon, vogn])
def test_an_outlier_moves_a_weight_about_as_far_as_three_steps_may(made, monkeypatch) -> None:
    def moved() -> float:
        network = nn.Linear(1, 1)
        nn.init.zeros_(network.weight)
        nn.init.zeros_(network.bias)
        return moved_by_an_outlier(made(network), network)

    assert 2 * LR * RADIUS < moved() < 3.5 * LR * RADIUS
    # The control: as large as it is, it makes every step as long as a step may be.
    monkeypatch.setattr(f"askwise.optim.{made.__name__}.cut", lambda gradient, *_: gradient)
    assert moved() > 35 * LR * RADIUS
