"""A network remembers how it was made, so that a saved one is built again without pickle."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypedDict, TypeVar

from torch import nn

P = ParamSpec("P")
Network = TypeVar("Network", bound=nn.Module)


class Recipe(TypedDict):
    """The name of a network and the options it was built with, as JSON would hold them."""

    name: str
    options: dict[str, Any]


def recorded(builder: Callable[P, Network]) -> Callable[P, Network]:
    """The same builder, whose networks carry `recipe`: its name and all its options.

    A network among the options is written as its own recipe. Where that has none, being a user's
    own, the whole has none either, and whoever loads it must pass the network.
    """
    signature = inspect.signature(builder)

    @wraps(builder)
    def build(*args: P.args, **kwargs: P.kwargs) -> Network:
        network = builder(*args, **kwargs)
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        options = {key: _as_json(value) for key, value in given.arguments.items()}
        if not any(isinstance(value, nn.Module) for value in options.values()):
            vars(network)["recipe"] = Recipe(name=builder.__name__, options=options)
        return network

    return build


def is_recipe(value: object) -> bool:
    """Whether an option stands for a network of its own."""
    return isinstance(value, dict) and value.keys() == Recipe.__required_keys__


def _as_json(value: Any) -> Any:
    if isinstance(value, nn.Module):
        return getattr(value, "recipe", value)
    if isinstance(value, Mapping):
        return {key: _as_json(inner) for key, inner in value.items()}
    # JSON has lists and no tuples: a recipe read back equals the one written.
    return [_as_json(inner) for inner in value] if isinstance(value, list | tuple) else value
