"""A step has all its samples, and means over them."""

import pytest
import torch

from askwise.errors import InputError
from askwise.optim.sampling import Samples


def test_means_are_over_the_samples_and_leave_what_was_added_alone() -> None:
    samples, first = Samples(2), torch.tensor([1.0, 2.0])
    samples.add(gradient=[first])
    samples.add(gradient=[torch.tensor([3.0, 6.0])])
    assert samples.means()["gradient"][0].tolist() == [2.0, 4.0]
    assert first.tolist() == [1.0, 2.0]
    assert samples.taken == 0


@pytest.mark.parametrize("taken", [0, 1, 3])
def test_too_few_or_too_many_are_refused(taken: int) -> None:
    samples = Samples(2)
    for _ in range(taken):
        samples.add(gradient=[torch.ones(1)])
    with pytest.raises(InputError, match=f"needs 2 gradient samples and has {taken}"):
        samples.means()


def test_a_failed_sample_starts_the_step_over() -> None:
    samples = Samples(2)
    samples.add(gradient=[torch.ones(1)])
    with pytest.raises(ZeroDivisionError), samples.guarded():
        1 / 0  # noqa: B018
    assert samples.taken == 0
