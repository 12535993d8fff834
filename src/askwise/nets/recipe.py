"""A network remembers how it was made, so that a saved one is built again without pickle."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypedDict

from torch import nn

P = ParamSpec("P")


class Recipe(TypedDict):
    """The name of a network and the options it was built with, as JSON would hold them."""

    name: str
    options: dict[str, Any]


def recorded(builder: Callable[P, nn.Sequential]) -> Callable[P, nn.Sequential]:
    """The same builder, whose networks carry `recipe`: its name and all its options."""
    signature = inspect.signature(builder)

    @wraps(builder)
    def build(*args: P.args, **kwargs: P.kwargs) -> nn.Sequential:
        network = builder(*args, **kwargs)
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        # JSON has lists and no tuples: a recipe read back equals the one written.
        options = {key: list(v) if isinstance(v, tuple) else v for key, v in given.arguments.items()}
        vars(network)["recipe"] = Recipe(name=builder.__name__, options=options)
        return network

    return build
