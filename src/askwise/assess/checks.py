"""What answers and predictions must look like before anything is promised from them."""

from collections.abc import Hashable, Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from askwise.errors import InputError


def between(name: str, value: int | float) -> float:
    """`value`, if it lies strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise InputError(f"{name} must lie between 0 and 1, both excluded, not {value!r}")
    return float(value)


def finite(name: str, values: Tensor) -> Tensor:
    """The values in float64, if all are finite."""
    if not values.isfinite().all():
        raise InputError(f"{name} must be finite, and contains NaN or infinity; look at the model's outputs")
    return values.double()


def probabilities(name: str, values: Tensor) -> Tensor:
    """The values in float64, if all lie in [0, 1]."""
    values = finite(name, values)
    if len(values) and not (float(values.min()) >= 0 and float(values.max()) <= 1):
        raise InputError(
            f"{name} must lie in [0, 1], and holds values from {values.min():g} to {values.max():g}"
        )
    return values


def same_length(**sizes: int) -> None:
    """Refuse lengths that differ."""
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{count} {name}" for name, count in sizes.items())
        raise InputError(f"the inputs differ in length: {told}")


def several_classes(classes: int) -> int:
    """`classes`, if there are at least two."""
    if isinstance(classes, bool) or not isinstance(classes, int) or classes < 2:
        raise InputError(
            f"there must be at least 2 classes, not {classes!r}; with one class nothing can be wrong"
        )
    return classes


def class_numbers(name: str, labels: Tensor, classes: int) -> Tensor:
    """The labels, if all are numbers of classes."""
    if len(labels) and not (int(labels.min()) >= 0 and int(labels.max()) < classes):
        raise InputError(
            f"{name} must be numbers of classes from 0 to {classes - 1}, and go from {int(labels.min())} "
            f"to {int(labels.max())}"
        )
    return labels


def numbered(groups: Sequence[Hashable]) -> dict[Hashable, int]:
    """A number for every group, in the order in which they come first."""
    return {group: number for number, group in enumerate(dict.fromkeys(groups))}


def group_means(values: Float[Tensor, " n"], group: Int64[Tensor, " n"], count: int) -> Float[Tensor, " G"]:
    """The mean of each group; every group has a value."""
    sums = torch.zeros(count, dtype=values.dtype).index_add_(0, group, values)
    return sums / group.bincount(minlength=count)
