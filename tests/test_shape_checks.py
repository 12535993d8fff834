"""Shapes in signatures are checked while the tests run."""

import os

import pytest
import shape_checks
import torch
from jaxtyping import TypeCheckError

from askwise.math.entropy import marginal

pytestmark = pytest.mark.skipif(bool(os.environ.get("ASKWISE_UNCHECKED")), reason="shapes are not checked")


def test_a_wrong_shape_is_refused_at_the_first_calls_of_a_test():
    with pytest.raises(TypeCheckError):
        marginal(torch.zeros(2, 3))


def test_control_after_its_first_calls_a_function_runs_unchecked():
    for _ in range(shape_checks.CALLS):
        marginal(torch.zeros(2, 3, 4))
    assert marginal(torch.zeros(2, 3)) is not None
    shape_checks.begin_test()
    with pytest.raises(TypeCheckError):
        marginal(torch.zeros(2, 3))
