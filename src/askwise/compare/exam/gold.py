"""The exact posteriors of the heads, as `benchmarks/exam_gold.py` has sampled and kept them."""

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float64
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from askwise.compare.exam.answer import Answer
from askwise.compare.exam.heads import HEADS, Head
from askwise.errors import CorruptError, choose

_FOLDER = Path(__file__).parent
_TOLERANCE = 1e-4  # features are computed anew, and decompositions differ in their last bits


@dataclass(frozen=True, eq=False)
class Gold:
    """The answer of all draws of a long run, those of its two halves, and the mean-field optimum.

    The optimum is the independent Gaussians with the highest ELBO: what a mean-field posterior can
    reach at best. `made` says how all this was found: command, versions, seeds, R-hat, sample size.
    """

    whole: Answer
    halves: tuple[Answer, Answer]
    mean_field_mean: Float64[Tensor, " W"]
    mean_field_std: Float64[Tensor, " W"]
    made: dict[str, Any]


def load(head: Head) -> Gold:
    """The exact posterior of a head, if it was sampled from the same items."""
    path = path_of(head.name)
    with safe_open(path, framework="pt") as file:
        found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
        made = json.loads(file.metadata()["made"])
    seen = _items(head)
    for name, tensor in seen.items():
        kept = found.pop(name)
        if kept.shape != tensor.shape or not torch.allclose(kept, tensor, rtol=0, atol=_TOLERANCE):
            raise CorruptError(
                f"{path} was sampled from other items than the head {head.name!r} has now; make it again "
                "with benchmarks/exam_gold.py"
            )
    found = {name: tensor.double() for name, tensor in found.items()}
    covariances = torch.stack([_square(found.pop(f"covariance_{part}")) for part in "ab"])
    whole = Answer(covariances=covariances, **_part(found, "whole"))
    halves = [
        Answer(covariances=covariance.expand(2, -1, -1), **_part(found, part))
        for covariance, part in zip(covariances, "ab", strict=True)
    ]
    return Gold(whole, (halves[0], halves[1]), found["mean_field_mean"], found["mean_field_std"], made)


def save(head: Head, gold: Gold) -> Path:
    """The path of the file, which is written; single precision is finer than any sampler."""
    kept = {**_items(head), "mean_field_mean": gold.mean_field_mean, "mean_field_std": gold.mean_field_std}
    for part, one in zip(("whole", "a", "b"), (gold.whole, *gold.halves), strict=True):
        kept |= {f"{part}_{name}": getattr(one, name) for name in _NAMES}
    for part, covariance in zip("ab", gold.whole.covariances, strict=True):
        kept[f"covariance_{part}"] = covariance[*torch.tril_indices(*covariance.shape)]
    path = path_of(head.name)
    save_file(
        {name: tensor.float().contiguous().clone() for name, tensor in kept.items()},
        path,
        metadata={"made": json.dumps(gold.made)},
    )
    return path


def path_of(name: str) -> Path:
    """Where the exact posterior of a head is kept: in the package, because the command needs it."""
    return _FOLDER / f"gold_{choose('head', name, HEADS)}.safetensors"


_NAMES = tuple(field.name for field in fields(Answer) if field.name != "covariances")


def _items(head: Head) -> dict[str, Tensor]:
    """By these it is known again what was sampled from; of pool and held-out items the sums are enough."""
    sums = torch.stack([head.pool.abs().sum(dim=0), head.held[0].abs().sum(dim=0)])
    return {
        "train_x": head.train[0],
        "train_y": head.train[1].float(),
        "means": sums / torch.tensor([[len(head.pool)], [len(head.held[0])]]),
    }


def _part(found: dict[str, Tensor], part: str) -> dict[str, Tensor]:
    return {name: found[f"{part}_{name}"] for name in _NAMES}


def _square(packed: Float64[Tensor, " L"]) -> Float64[Tensor, "W W"]:
    """The symmetric matrix of which the lower triangle was kept, row by row."""
    size = int(((8 * len(packed) + 1) ** 0.5 - 1) / 2)
    square = packed.new_zeros(size, size)
    square[*torch.tril_indices(size, size)] = packed
    return square + square.tril(-1).T
