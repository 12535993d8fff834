import pytest
import torch

import askwise as aw
from askwise.data.streets import STREET_CLASSES, street_scenes
from askwise.errors import InputError


def scenes(count: int = 40, seed: int = 0, **options):
    return street_scenes(count, rng=torch.Generator().manual_seed(seed), **options)


def test_images_and_masks_have_the_size_that_was_asked_for():
    images, masks = scenes(3, size=(20, 33))
    assert images.shape == (3, 3, 20, 33)
    assert masks.shape == (3, 20, 33)
    assert (images.min() >= 0) & (images.max() <= 1)


def test_every_class_is_there_and_none_is_everywhere():
    _, masks = scenes()
    share = torch.bincount(masks.flatten(), minlength=len(STREET_CLASSES)) / masks.numel()
    assert len(share) == len(STREET_CLASSES)
    assert (share > 0.01).all()
    assert (share < 0.6).all()


def test_the_generator_decides_and_moves_on():
    assert all(torch.equal(a, b) for a, b in zip(scenes(4), scenes(4), strict=True))
    rng = torch.Generator().manual_seed(0)
    first, second = street_scenes(2, rng=rng), street_scenes(2, rng=rng)
    assert not torch.equal(first[1], second[1])
    assert torch.equal(torch.cat([first[0], second[0]]), scenes(4)[0])


def test_the_random_state_of_others_is_left_alone():
    before = torch.get_rng_state()
    scenes(2)
    assert torch.equal(torch.get_rng_state(), before)


def test_sky_is_above_and_road_below():
    _, masks = scenes()
    rows = torch.arange(60.0)[None, :, None].expand(masks.shape)
    assert rows[masks == STREET_CLASSES.index("sky")].mean() < 20
    assert rows[masks == STREET_CLASSES.index("road")].mean() > 40


def test_colour_alone_tells_much_and_not_all():
    # A network that looks at single pixels gets most of them right, and leaves something to learn.
    images, masks = scenes()
    pixels, labels = images.movedim(1, -1).reshape(-1, 3), masks.flatten()
    means = torch.stack([pixels[labels == c].mean(dim=0) for c in range(len(STREET_CLASSES))])
    right = (torch.cdist(pixels, means).argmin(dim=1) == labels).float().mean()
    assert 0.4 < right < 0.85


@pytest.mark.parametrize("size", [(15, 40), (40, 15)])
def test_a_tiny_scene_is_refused(size):
    with pytest.raises(InputError, match="street scenes are at least 16 x 16, not"):
        aw.data.street_scenes(1, rng=torch.Generator(), size=size)
