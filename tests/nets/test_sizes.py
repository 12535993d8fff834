import pytest

from askwise.errors import InputError
from askwise.nets.parts import after, border


def test_28_pixels_become_11_in_gals_network():
    assert after(28, ("conv", 4), ("conv", 4), ("pool", 2)) == 11


def test_the_smallest_size_is_named_and_is_enough():
    steps = (("conv", 5), ("pool", 2), ("conv", 5), ("pool", 2))
    with pytest.raises(InputError, match="needs images of at least 16 x 16, not size=15"):
        after(15, *steps)
    assert after(16, *steps) == 1


def test_a_size_of_nothing_is_refused():
    with pytest.raises(InputError, match="size must be a whole number of at least 1, not 0"):
        after(0, ("pool", 2))


@pytest.mark.parametrize(("size", "pixels"), [(32, 0), (28, 2)])
def test_a_border_makes_it_32_pixels(size, pixels):
    assert border("LeNet-5", size) == pixels
