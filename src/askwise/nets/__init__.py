"""Plain torch networks of the papers, by name; their stages are named in the order they run."""

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from askwise.errors import InputError, choose
from askwise.nets.batchbald_cnn import batchbald_cnn
from askwise.nets.digits_cnn import digits_cnn
from askwise.nets.gal_cnn import gal_cnn
from askwise.nets.lenet5 import lenet5
from askwise.nets.mlp import mlp
from askwise.nets.recipe import Recipe

__all__ = ["NETWORKS", "Recipe", "batchbald_cnn", "build", "digits_cnn", "gal_cnn", "lenet5", "mlp"]

NETWORKS: dict[str, Callable[..., nn.Sequential]] = {
    "batchbald_cnn": batchbald_cnn,
    "digits_cnn": digits_cnn,
    "gal_cnn": gal_cnn,
    "lenet5": lenet5,
    "mlp": mlp,
}


def build(name: str, **options: Any) -> nn.Sequential:
    """The network of that name with these options: `build(recipe["name"], **recipe["options"])`."""
    builder = NETWORKS[choose("network", name, NETWORKS)]
    known = inspect.signature(builder).parameters
    for option in options:
        choose(f"option of {name}", option, known)
    missing = [key for key, p in known.items() if p.default is p.empty and key not in options]
    if missing:
        raise InputError(f"{name} needs {' and '.join(missing)}")
    return builder(**options)
