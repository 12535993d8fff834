"""Random street scenes with their masks: for tests and examples where CamVid is not installed."""

import torch
from jaxtyping import Bool, Float32, Int64
from torch import Tensor

from askwise.errors import InputError, positive

STREET_CLASSES = ("sky", "building", "tree", "road", "pavement", "car")
_SKY, _BUILDING, _TREE, _ROAD, _PAVEMENT, _CAR = range(len(STREET_CLASSES))
_COLOURS = torch.tensor(
    [[0.6, 0.7, 0.9], [0.6, 0.5, 0.4], [0.2, 0.4, 0.2], [0.3, 0.3, 0.3], [0.5, 0.5, 0.5], [0.5, 0.2, 0.2]]
)
_SMALLEST = 16


class _Scene:
    """A picture that is painted from the back to the front."""

    def __init__(self, height: int, width: int, rng: torch.Generator) -> None:
        self.rng = rng
        self.mask = torch.full((height, width), _SKY)
        self.image = _COLOURS[_SKY][:, None, None].repeat(1, height, width)
        # From 0 to 1 down and across, so that a scene is the same at every size.
        self.down = ((torch.arange(height) + 0.5) / height)[:, None]
        self.across = ((torch.arange(width) + 0.5) / width)[None, :]

    def between(self, low: float, high: float) -> float:
        """A random number."""
        return low + (high - low) * float(torch.rand((), generator=self.rng))

    def paint(self, where: Bool[Tensor, "H W"], label: int, *, variety: float) -> None:
        """Cover a part of the picture with a class, in about its colour."""
        shift = variety * torch.randn(3, 1, 1, generator=self.rng)
        self.mask[where] = label
        self.image = torch.where(where, _COLOURS[label][:, None, None] + shift, self.image)


def street_scenes(
    count: int, *, rng: torch.Generator, size: tuple[int, int] = (60, 80)
) -> tuple[Float32[Tensor, "N 3 H W"], Int64[Tensor, "N H W"]]:
    """Images of this size (height, width) and a mask of `STREET_CLASSES` for each.

    Houses and cars have many colours, light changes from scene to scene, and there is noise: a
    network has to look at shapes and places.

    >>> scenes, masks = aw.data.street_scenes(2, rng=torch.Generator().manual_seed(0))
    >>> scenes.shape, masks.shape
    (torch.Size([2, 3, 60, 80]), torch.Size([2, 60, 80]))
    """
    height, width = size
    if min(height, width) < _SMALLEST:
        raise InputError(f"street scenes are at least {_SMALLEST} x {_SMALLEST}, not {height} x {width}")
    scenes = [_scene(height, width, rng) for _ in range(positive("count", count))]
    return torch.stack([image for image, _ in scenes]), torch.stack([mask for _, mask in scenes])


def _scene(
    height: int, width: int, rng: torch.Generator
) -> tuple[Float32[Tensor, "3 H W"], Int64[Tensor, "H W"]]:
    scene = _Scene(height, width, rng)
    horizon = scene.between(0.35, 0.55)
    _houses(scene, horizon)
    scene.paint((scene.down > horizon) & (scene.across >= 0), _PAVEMENT, variety=0.05)
    for _ in range(int(scene.between(1.0, 5.0))):
        centre, radius = scene.between(0.0, 1.0), scene.between(0.05, 0.15)
        beside = (scene.across - centre).square() + (scene.down - horizon + radius / 2).square()
        scene.paint(beside < radius**2, _TREE, variety=0.06)
    middle, near = scene.between(0.35, 0.65), scene.between(0.35, 0.5)
    depth = ((scene.down - horizon) / (1 - horizon)).clamp(min=0)
    scene.paint((depth > 0) & ((scene.across - middle).abs() < 0.04 + near * depth), _ROAD, variety=0.05)
    for far in sorted(scene.between(0.1, 0.8) for _ in range(int(scene.between(1.0, 4.0)))):
        _car(scene, horizon, middle, near, far)
    light, noise = scene.between(0.7, 1.2), torch.randn(3, height, width, generator=rng)
    return (scene.image * light + 0.04 * noise).clamp(0, 1), scene.mask


def _houses(scene: _Scene, horizon: float) -> None:
    """A row of houses with a gap here and there."""
    left = 0.0
    while left < 1:
        right = left + scene.between(0.1, 0.3)
        top = horizon - scene.between(0.1, 0.35)
        inside = (scene.across >= left) & (scene.across < right) & (scene.down > top)
        if scene.between(0.0, 1.0) < 0.8:
            scene.paint(inside, _BUILDING, variety=0.15)
        left = right


def _car(scene: _Scene, horizon: float, middle: float, near: float, depth: float) -> None:
    """A car that stands on the road, larger the nearer it is."""
    ground = horizon + depth * (1 - horizon)
    half = 0.04 + 0.12 * depth
    centre = middle + scene.between(-0.6, 0.6) * (0.04 + near * depth)
    inside = (
        ((scene.across - centre).abs() < half) & (scene.down < ground) & (scene.down > ground - 1.2 * half)
    )
    scene.paint(inside, _CAR, variety=0.25)
