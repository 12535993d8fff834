"""Adam on the mean of several gradients is Adam on the loss's mean."""

import torch
from torch import nn

from askwise.optim.beside import AveragedAdam


def test_three_samples_count_as_their_mean() -> None:
    ours, plain = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
    averaged, adam = AveragedAdam([ours], lr=0.1, samples=3), torch.optim.Adam([plain], lr=0.1)
    for _ in range(5):
        for factor in (1.0, 2.0, 6.0):
            with averaged.sampling():
                (factor * ours.square()).sum().backward()
        averaged.step()
        adam.zero_grad()
        (3.0 * plain.square()).sum().backward()
        adam.step()
    torch.testing.assert_close(ours, plain)


def test_it_may_have_nothing_to_do() -> None:
    idle = AveragedAdam([], lr=0.1)
    with idle.sampling():
        pass
    idle.step()
