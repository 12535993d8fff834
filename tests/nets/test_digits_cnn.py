import pytest

from askwise.errors import InputError
from askwise.nets import digits_cnn, gal_cnn


def test_the_stages_are_those_of_gals_network():
    small, gal = digits_cnn(), gal_cnn()
    assert list(dict(small.named_children())) == list(dict(gal.named_children()))


def test_the_dense_layers_see_4_by_4_maps():
    assert digits_cnn().dense1.in_features == 32 * 4 * 4


def test_a_single_pixel_is_refused():
    with pytest.raises(InputError, match="at least 2 x 2, not size=1"):
        digits_cnn(size=1)
