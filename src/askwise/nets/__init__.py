"""Plain torch networks of the papers, by name; their stages are named in the order they run."""

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from askwise.errors import InputError, choose
from askwise.nets.alexnet import alexnet, alexnet_half
from askwise.nets.axes import on_axes
from askwise.nets.dcgan import dcgan_discriminator, dcgan_generator
from askwise.nets.embed import embed
from askwise.nets.encoded import encoded, frozen, unchanged
from askwise.nets.espcn import espcn
from askwise.nets.mlp import linear, mlp
from askwise.nets.narrow import narrow
from askwise.nets.nin_dsn import dsn, nin
from askwise.nets.noise import homoscedastic
from askwise.nets.recipe import Recipe, is_recipe
from askwise.nets.segnet import segnet_basic
from askwise.nets.small_cnns import batchbald_cnn, digits_cnn, gal_cnn, gal_code_cnn, lenet5
from askwise.nets.text_nets import text_head, tiny_encoder

NETWORKS: dict[str, Callable[..., nn.Module]] = {
    "alexnet": alexnet,
    "alexnet_half": alexnet_half,
    "batchbald_cnn": batchbald_cnn,
    "dcgan_discriminator": dcgan_discriminator,
    "dcgan_generator": dcgan_generator,
    "digits_cnn": digits_cnn,
    "dsn": dsn,
    "encoded": encoded,
    "espcn": espcn,
    "gal_cnn": gal_cnn,
    "gal_code_cnn": gal_code_cnn,
    "homoscedastic": homoscedastic,
    "lenet5": lenet5,
    "linear": linear,
    "mlp": mlp,
    "narrow": narrow,
    "nin": nin,
    "on_axes": on_axes,
    "segnet_basic": segnet_basic,
    "text_head": text_head,
    "tiny_encoder": tiny_encoder,
    "unchanged": unchanged,
}

__all__ = ["NETWORKS", "Recipe", "build", "embed", "frozen", *NETWORKS]


def build(name: str, **options: Any) -> nn.Module:
    """The network of that name with these options: `build(recipe["name"], **recipe["options"])`.

    An option that is itself a recipe is built first.

    >>> aw.nets.build("mlp", features=4, classes=2)(x).shape
    torch.Size([60, 2])
    """
    builder = NETWORKS[choose("network", name, NETWORKS)]
    known = inspect.signature(builder).parameters
    for option in options:
        choose(f"option of {name}", option, known)
    missing = [key for key, p in known.items() if p.default is p.empty and key not in options]
    if missing:
        raise InputError(f"{name} needs {' and '.join(missing)}")
    made = {key: build(v["name"], **v["options"]) if is_recipe(v) else v for key, v in options.items()}
    return builder(**made)
