import brute_force
import pytest
import torch

from askwise.acquire.tags import tag_probs
from askwise.errors import InputError


def test_a_tag_is_on_with_the_probability_of_its_second_class():
    log_probs = torch.tensor([[[[0.3, 0.7], [1.0, 0.0]]]]).log()
    assert tag_probs(log_probs)[0, 0].tolist() == pytest.approx([0.7, 0.0])


def test_other_shapes_are_refused():
    with pytest.raises(InputError, match=r"not \[2, 3, 4\]; leave it off"):
        tag_probs(brute_force.predictions(2, 3, 4))
