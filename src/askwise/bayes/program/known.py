"""What was found out about a network, kept for the next one of the same code and shapes.

Each round of a loop trains a new model of one network. Its graph depends on the code of its modules,
their settings and the shapes of their tensors, never on the weights: it is traced and cut once.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from askwise.bayes.program.trace import tensors_of

T = TypeVar("T")
_MOST = 32  # networks and shapes of items that are remembered; the oldest goes
_PLAIN = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device, torch.memory_format)
_OWN = ("training", "_modules", "_parameters", "_buffers")  # looked at by themselves, or set while predicting


class UnknownError(Exception):
    """A setting of a module that cannot be compared with another's."""


class Memory:
    """The latest findings by structure of the network and what else they depend on."""

    def __init__(self, most: int = _MOST) -> None:
        self._found: OrderedDict[Hashable, Any] = OrderedDict()
        self._most = most

    def recall(self, network: nn.Module, *what: Hashable, find: Callable[[], T]) -> T:
        """What `find` gives, or has given for a network of this structure and the same `what`.

        Nothing is remembered of a network whose structure cannot be told.
        """
        same = structure(network)
        if same is None:
            return find()
        key = (same, torch.get_default_dtype(), what)
        found: T = self._found[key] if key in self._found else find()
        self._found[key] = found
        self._found.move_to_end(key)
        while len(self._found) > self._most:
            self._found.popitem(last=False)
        return found


def structure(network: nn.Module) -> Hashable | None:
    """Classes, settings and shapes of all modules; None where one has a setting that is no plain value.

    Such are tensors that are not registered, functions made in functions, and objects of other classes.
    """
    modules = network.named_modules(remove_duplicate=False)
    try:
        # A tensor that two layers share has one name.
        return tuple(tensors_of(network)), tuple((name, _settings(module)) for name, module in modules)
    except UnknownError:
        return None


def _settings(module: nn.Module) -> Hashable:
    own = {name: _plain(value) for name, value in vars(module).items() if name not in _OWN}
    tensors = {**module._parameters, **module._buffers}
    shapes = {name: None if tensor is None else _shape(tensor) for name, tensor in tensors.items()}
    return type(module), tuple(sorted(own.items())), tuple(sorted(shapes.items()))


def _shape(tensor: Tensor) -> Hashable:
    return tuple(tensor.shape), tensor.stride(), tensor.dtype, str(tensor.device)


def _plain(value: Any) -> Hashable:
    """The value as something that can be compared."""
    if isinstance(value, _PLAIN):
        return type(value), value
    if isinstance(value, BuiltinFunctionType) or (isinstance(value, FunctionType) and not value.__closure__):
        return value
    if isinstance(value, list | tuple):
        return type(value), tuple(map(_plain, value))
    if isinstance(value, set | frozenset):
        return type(value), frozenset(map(_plain, value))
    if isinstance(value, dict):
        return type(value), tuple((_plain(key), _plain(one)) for key, one in value.items())
    raise UnknownError
