"""Encoders of one's own: a torch module by `module:attribute`."""

from pathlib import Path

from torch import nn

from askwise.encoders.record import PICTURES, ROWS, TEXTS, Encoder, Record
from askwise.errors import InputError
from askwise.references import imported


def load(name: str, *, folder: Path | None = None) -> Encoder:
    """The module that `module:attribute` names, or that the function of that name gives, frozen.

    It takes texts if it has `tokens`, pictures of `size` pixels at each side if it has `size`,
    otherwise arrays as they are. `folder`, by default the present one, is searched first.
    """
    module = imported(name, what="encoder", folder=folder)
    if not isinstance(module, nn.Module) and callable(module):
        module = module()
    if not isinstance(module, nn.Module):
        raise InputError(f"{name} is a {type(module).__name__}, and an encoder is a torch module")
    size = getattr(module, "size", 0)
    takes = TEXTS if hasattr(module, "tokens") else PICTURES if size else ROWS
    if isinstance(size, bool) or not isinstance(size, int):
        raise InputError(f"{name}: size must be a whole number of pixels, not {size!r}")
    weights = sum(part.numel() * part.element_size() for part in module.parameters())
    record = Record(
        name,
        takes,
        size,
        int(getattr(module, "width", 0)),
        str(getattr(module, "licence", "your own")),
        weights,
        "it is code of yours",
        folder or Path(),
    )
    return Encoder(record, module.requires_grad_(False).eval())
