import pytest
import torch
from torch.nn import functional as F

import askwise as aw
from askwise.errors import InputError
from askwise.nets import segnet_basic
from askwise.nets.segnet import unpool


def test_stages_and_rates_are_those_of_the_paper():
    network = segnet_basic()
    assert [stage for stage, _ in network.named_children()] == [
        "conv1", "norm1", "conv2", "norm2", "conv3", "norm3", "dropout3", "conv4", "norm4", "dropout4",
        "decode4", "decode_norm4", "decode_dropout4", "decode3", "decode_norm3", "decode_dropout3",
        "decode2", "decode_norm2", "decode1", "decode_norm1", "classify",
    ]  # fmt: skip
    rates = ("dropout3", "dropout4", "decode_dropout4", "decode_dropout3")
    assert [network.get_submodule(name).p for name in rates] == [0.5] * 4
    assert network.conv2.weight.shape == (64, 64, 7, 7)


@pytest.mark.parametrize("width", [8, 64])
def test_the_parameters_are_counted_by_hand(width):
    wide = width * width * 49 + width
    first, norms, last = 3 * width * 49 + width, 8 * 2 * width, width * 11 + 11
    network = segnet_basic(width=width)
    assert sum(p.numel() for p in network.parameters()) == first + 7 * wide + norms + last


@pytest.mark.parametrize(("height", "width"), [(90, 120), (16, 16), (17, 31), (180, 240)])
def test_masks_are_as_large_as_the_images(height, width):
    network = segnet_basic(width=2, classes=5).eval()
    with torch.no_grad():
        assert network(torch.rand(1, 3, height, width)).shape == (1, 5, height, width)


def test_unpooling_is_that_of_torch():
    values = torch.randn(2, 3, 6, 8)
    pooled, indices = F.max_pool2d(values, 2, return_indices=True)
    assert torch.equal(unpool(pooled, indices, (6, 8)), F.max_unpool2d(pooled, indices, 2))


@pytest.mark.parametrize("size", [(5, 7), (6, 9)])
def test_every_maximum_goes_back_to_its_place_in_odd_sizes_too(size):
    values = torch.rand(2, 3, *size) + 1
    pooled, indices = F.max_pool2d(values, 2, ceil_mode=True, return_indices=True)
    back = unpool(pooled, indices, size)
    assert torch.equal(back[back > 0], values[back > 0])
    assert torch.equal((back > 0).sum(dim=(2, 3)), torch.full((2, 3), pooled[0, 0].numel()))


def test_the_way_up_goes_to_where_the_maxima_were(monkeypatch):
    network = segnet_basic(width=4, classes=3).eval()
    image = torch.rand(1, 3, 16, 16)
    with torch.no_grad():
        known = network(image)
        monkeypatch.setattr("askwise.nets.segnet.unpool", lambda v, _, size: F.interpolate(v, size))
        assert not torch.allclose(network(image), known)


def test_it_learns_and_predicts_with_dropout():
    images, masks = aw.data.street_scenes(6, rng=torch.Generator().manual_seed(0), size=(16, 20))
    training = aw.Training(epochs=15, batch_size=3, lr=0.01)
    network = segnet_basic(width=4, classes=6, dropout=0.2)
    fitted = aw.fit(
        network, (images, masks), posterior=aw.mc_dropout(), task="segmentation", training=training
    )
    assert fitted.history[-1]["nll"] < 0.7 * fitted.history[0]["nll"]
    found = aw.predict(fitted, images, draws=4)
    assert found.mean.shape == (6, 16, 20, 6)
    assert found.epistemic.max() > 0


def test_a_small_image_is_refused():
    with pytest.raises(InputError, match="SegNet needs images of at least 16 x 16, not 15 x 40"):
        segnet_basic(width=2)(torch.rand(1, 3, 15, 40))
