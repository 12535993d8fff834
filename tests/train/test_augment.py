"""Augmentation: labels stay true, masks move with their images, and a generator decides it all."""

import pytest
import torch
from torch import Tensor

import askwise as aw
from askwise.errors import InputError
from askwise.train.augment import AUGMENTATIONS, augmented, flip, noise, shift


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def pictures(count: int = 40) -> tuple[Tensor, Tensor]:
    """Images whose every pixel is known by its value, and masks that repeat them."""
    masks = torch.arange(count * 16 * 24).view(count, 16, 24)
    return masks[:, None].float(), masks


@pytest.mark.parametrize("name", ["flip", "shift"])
def test_masks_move_with_their_images(name: str) -> None:
    images, masks = AUGMENTATIONS[name](*pictures(), rng())
    assert torch.equal(images[:, 0].long(), masks)
    assert not torch.equal(masks, pictures()[1])


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_labels_of_items_stay(name: str) -> None:
    for labels in (torch.arange(40), torch.rand(40, 3)):
        images, after = AUGMENTATIONS[name](pictures()[0], labels, rng())
        assert after is labels
        assert images.shape == (40, 1, 16, 24)


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_the_generator_decides_it_all_and_the_batch_is_untouched(name: str) -> None:
    images, masks = pictures()
    first, again, other = (AUGMENTATIONS[name](images, masks, rng(seed))[0] for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(images, pictures()[0])


def test_about_half_of_the_images_are_mirrored() -> None:
    images, _ = pictures(400)
    changed = flip(images, torch.arange(400), rng())[0]
    mirrored = (changed == images.flip(-1)).flatten(1).all(dim=1)
    assert 150 < mirrored.sum() < 250
    assert torch.equal(changed[~mirrored], images[~mirrored])


def test_images_move_by_at_most_an_eighth_and_repeat_their_edges() -> None:
    images, masks = pictures(300)
    moved = shift(images, masks, rng())[1] - masks[:, :1, :1]
    rows, columns = (moved // 24)[:, :, 12], (moved % 24)[:, 8]
    assert set((rows[:, 8] - 8).tolist()) == set(range(-2, 3))
    assert set((columns[:, 12] - 12).tolist()) == set(range(-3, 4))
    assert rows.min() == 0
    assert rows.max() == 15


def test_noise_is_a_tenth_of_the_spread_of_each_item() -> None:
    items = torch.randn(50, 1000, generator=rng(1)) * torch.arange(1, 51)[:, None]
    spread = (noise(items, torch.arange(50), rng())[0] - items).std(dim=1) / items.std(dim=1)
    assert ((spread > 0.09) & (spread < 0.11)).all()


def test_changes_follow_each_other() -> None:
    images, masks = pictures()
    one = rng()
    expected = shift(*flip(images, masks, one), one)
    found = augmented(("flip", "shift"), images, masks, rng())
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda x, y, rng: x, r"must return two tensors \(inputs, labels\)"),
        (lambda x, y, rng: (x, None), "must return two tensors"),
        (lambda x, y, rng: (x[:3], y), "returned 3 inputs and 40 labels for 40 items"),
    ],
)
def test_a_function_that_does_not_keep_the_batch_is_refused(change, match: str) -> None:
    with pytest.raises(InputError, match=match):
        augmented(change, *pictures(), rng())


def test_what_cannot_be_changed_is_refused() -> None:
    vectors, labels = torch.zeros(4, 6), torch.zeros(4)
    for name in ("flip", "shift"):
        with pytest.raises(InputError, match=rf"{name} moves images \[n, channels, H, W\], not \[4, 6\]"):
            AUGMENTATIONS[name](vectors, labels, rng())
    with pytest.raises(InputError, match="not to int64"):
        noise(vectors.long(), labels, rng())
    with pytest.raises(InputError, match=r"masks of the images' size \[16, 24\], not \[8, 12\]"):
        shift(pictures()[0], pictures()[1][:, ::2, ::2], rng())


def test_names_are_kept_plain_and_unknown_ones_refused() -> None:
    assert aw.Training(augment="flip").augment == ("flip",)
    assert aw.Training(augment=["flip", "shift"]).augment == ("flip", "shift")
    assert aw.Training(augment=[]).augment is None
    with pytest.raises(InputError, match="unknown augmentation 'flop'; did you mean 'flip'"):
        aw.Training(augment=("flop",))
    with pytest.raises(InputError, match="unknown balance 'weight'; did you mean 'weights'"):
        aw.Training(balance="weight")


def test_augmented_learning_repeats_to_the_bit_and_does_not_move_the_order() -> None:
    images, labels = torch.rand(30, 1, 8, 8, generator=rng()), torch.arange(30) % 2
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 2))
    seen: list[list[float]] = []

    def look(inputs: Tensor, labels: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        seen.append(inputs[:, 0, 0, 0].tolist())
        torch.rand(7, generator=generator)
        return inputs, labels

    def digest(augment, seed: int = 0) -> str:
        how = aw.Training(epochs=2, batch_size=8, augment=augment)
        return aw.fit(network, (images, labels), posterior=aw.point(), training=how, seed=seed).digest()

    assert digest(("flip", "noise")) == digest(("flip", "noise")) != digest("flip")
    assert digest(look) == digest(None)  # what it draws is its own
    assert len(seen) == 2 * 4
