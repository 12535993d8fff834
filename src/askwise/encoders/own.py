"""Encoders of one's own: a torch module by `module:attribute`."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from torch import nn

from askwise.encoders.record import PICTURES, ROWS, TEXTS, Encoder, Record
from askwise.errors import InputError


def load(name: str) -> Encoder:
    """The module that `module:attribute` names, or that the function of that name gives, frozen.

    It takes texts if it has `tokens`, pictures of `size` pixels at each side if it has `size`,
    otherwise arrays as they are. The present folder is searched, too.
    """
    home, _, attribute = name.partition(":")
    module = _found(home, attribute)
    if not isinstance(module, nn.Module) and callable(module):
        module = module()
    if not isinstance(module, nn.Module):
        raise InputError(f"{name} is a {type(module).__name__}, and an encoder is a torch module")
    size = getattr(module, "size", 0)
    takes = TEXTS if hasattr(module, "tokens") else PICTURES if size else ROWS
    if isinstance(size, bool) or not isinstance(size, int):
        raise InputError(f"{name}: size must be a whole number of pixels, not {size!r}")
    weights = sum(part.numel() * part.element_size() for part in module.parameters())
    place = getattr(sys.modules[home], "__file__", None)
    record = Record(
        name,
        takes,
        size,
        int(getattr(module, "width", 0)),
        str(getattr(module, "licence", "your own")),
        weights,
        "it is code of yours",
        Path(place) if place else None,
    )
    return Encoder(record, module.requires_grad_(False).eval())


def _found(home: str, attribute: str) -> Any:
    if not home or not attribute:
        raise InputError(f"an encoder of one's own is written module:attribute, not {home}:{attribute}")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found: Any = import_module(home)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as reason:
        raise InputError(f"there is no {attribute} in {home}: {reason}") from reason
    finally:
        sys.path.remove(here)
    return found
