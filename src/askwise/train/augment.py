"""Changes to a batch that leave its labels true, drawn from a generator; masks move with their images."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch
from torch import Tensor

from askwise.errors import InputError

Augmentation: TypeAlias = Callable[[Tensor, Tensor, torch.Generator], tuple[Tensor, Tensor]]
"""From inputs [n, ...], labels [n, ...] and a generator to other inputs and labels."""

_SHIFT = 8  # images move by up to one eighth of their size
_NOISE = 0.1  # of each item's standard deviation


def flip(inputs: Tensor, labels: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Each image, with probability 1/2, mirrored left to right."""
    _check_images("flip", inputs)
    chosen = torch.rand(len(inputs), generator=rng) < 0.5
    labels = _chosen(chosen, labels.flip(-1), labels) if labels.ndim == 3 else labels
    return _chosen(chosen, inputs.flip(-1), inputs), labels


def shift(inputs: Tensor, labels: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Every image moved by up to an eighth of its size; its edges are repeated."""
    _check_images("shift", inputs)
    down, right = (_places(len(inputs), size, rng) for size in inputs.shape[2:])
    items = torch.arange(len(inputs))[:, None, None]
    if labels.ndim == 3:
        if labels.shape[1:] != inputs.shape[2:]:
            raise InputError(
                f"shift moves masks of the images' size {list(inputs.shape[2:])}, "
                f"not {list(labels.shape[1:])}"
            )
        labels = labels[items, down[:, :, None], right[:, None, :]]
    moved = inputs.movedim(1, -1)[items, down[:, :, None], right[:, None, :]]
    return moved.movedim(-1, 1).contiguous(), labels


def noise(inputs: Tensor, labels: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Gaussian noise on every item, of a tenth of its standard deviation."""
    if not inputs.is_floating_point():
        dtype = str(inputs.dtype).removeprefix("torch.")
        raise InputError(f"noise is added to floating-point inputs, not to {dtype}; leave it out of augment")
    spread = inputs.flatten(1).std(dim=1, correction=0).view(-1, *[1] * (inputs.ndim - 1))
    return inputs + _NOISE * spread * torch.randn(inputs.shape, generator=rng, dtype=inputs.dtype), labels


AUGMENTATIONS: dict[str, Augmentation] = {"flip": flip, "shift": shift, "noise": noise}


def augmented(
    choice: Sequence[str] | Augmentation, inputs: Tensor, labels: Tensor, rng: torch.Generator
) -> tuple[Tensor, Tensor]:
    """The batch after the named changes, one after the other, or after a function of one's own."""
    if not callable(choice):
        for name in choice:
            inputs, labels = AUGMENTATIONS[name](inputs, labels, rng)
        return inputs, labels
    found = choice(inputs, labels, rng)
    if not (isinstance(found, tuple) and len(found) == 2 and all(isinstance(part, Tensor) for part in found)):
        raise InputError("augment must return two tensors (inputs, labels)")
    if not len(found[0]) == len(found[1]) == len(inputs):
        raise InputError(
            f"augment returned {len(found[0])} inputs and {len(found[1])} labels for {len(inputs)} items; "
            "it must keep their number"
        )
    return found


def _check_images(name: str, inputs: Tensor) -> None:
    if inputs.ndim != 4:
        raise InputError(
            f"{name} moves images [n, channels, H, W], not {list(inputs.shape)}; leave it out of augment"
        )


def _chosen(chosen: Tensor, changed: Tensor, kept: Tensor) -> Tensor:
    return torch.where(chosen.view(-1, *[1] * (kept.ndim - 1)), changed, kept)


def _places(count: int, size: int, rng: torch.Generator) -> Tensor:
    """For each item where its rows (or columns) come from [n, size]."""
    most = size // _SHIFT
    by = torch.randint(-most, most + 1, (count, 1), generator=rng)
    return (torch.arange(size) + by).clamp(0, size - 1)
