"""Every dropout of a network as a named tensor that a draw can set.

A mask belongs to the number of the call, not to a module: one module may be called twice, and
`F.dropout`, attention and LSTM have no module at all. It has no item axis, so every item of the
pool meets the same thinned networks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from askwise.bayes.program.known import Memory
from askwise.bayes.program.trace import DropoutCall, call, predicting, tensors_of
from askwise.errors import InputError
from askwise.seeding import generator

_IN_PLACE, _FUNCTIONAL = torch.ops.aten.bernoulli_.float, torch.ops.aten.bernoulli.p
_CALLS = Memory()
_REFUSED_MODULES = (nn.AlphaDropout, nn.FeatureAlphaDropout)
_REFUSED_FUNCTIONS = (
    nn.functional.alpha_dropout,
    nn.functional.feature_alpha_dropout,
    torch.alpha_dropout,
    torch.alpha_dropout_,
    torch.feature_alpha_dropout,
    torch.feature_alpha_dropout_,
)


class Masks(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While active, the k-th dropout call gets the k-th mask instead of random numbers."""

    def __init__(self, give: Callable[[int, torch.Size, float], Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._give, self.calls = give, 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        del types
        if func not in (_IN_PLACE, _FUNCTIONAL):
            return func(*args, **(kwargs or {}))
        target, keep = args[0], args[1] if len(args) > 1 else 0.5
        mask = self._give(self.calls, target.shape, keep).to(target)
        self.calls += 1
        return target.copy_(mask) if func is _IN_PLACE else mask.expand(target.shape).clone()


class _RefuseAlpha(TorchFunctionMode):
    """Alpha dropout shifts and scales what it drops, so a plain mask cannot stand for it."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        del types
        if func in _REFUSED_FUNCTIONS:
            raise InputError(f"mc_dropout cannot draw {func.__name__}; use plain dropout instead")
        return func(*args, **(kwargs or {}))


def masked(dropouts: tuple[DropoutCall, ...], masks: Mapping[str, Tensor], items: int) -> Masks:
    """The mode that sets every dropout call of one pass to one draw."""

    def give(number: int, shape: torch.Size, _keep: float) -> Tensor:
        if number >= len(dropouts):
            raise InputError(
                f"the network called dropout {number + 1} times, and {len(dropouts)} when it was probed; "
                "mc_dropout needs the same calls for every input"
            )
        mask = dropouts[number].spread(masks[dropouts[number].name], items)
        try:
            return mask.expand(shape)
        except RuntimeError as error:
            raise InputError(
                f"dropout call {number} has shape {tuple(shape)}, and its mask {tuple(mask.shape)}; "
                "inputs must have the shape the draws were made for"
            ) from error

    return Masks(give)


def find(network: nn.Module, example: Tensor) -> tuple[DropoutCall, ...]:
    """Every dropout call of the network on inputs like `example` (one or more items)."""
    of_items = (tuple(example.shape[1:]), example.dtype, str(example.device))
    return _CALLS.recall(network, of_items, find=lambda: _find(network, example))


def _find(network: nn.Module, example: Tensor) -> tuple[DropoutCall, ...]:
    for name, module in network.named_modules():
        if isinstance(module, _REFUSED_MODULES):
            kind = type(module).__name__
            raise InputError(f"mc_dropout cannot draw {kind} ({name!r}); use nn.Dropout instead")
    two, three = (_record(network, example[:1], items) for items in (2, 3))
    if len(two) != len(three):
        raise InputError(f"the network calls dropout {len(two)} times on 2 items and {len(three)} times on 3")
    dropouts = tuple(_call_of(k, *pair) for k, pair in enumerate(zip(two, three, strict=True)))
    return _check_items_share(network, example[:1], dropouts)


def draw(dropouts: Sequence[DropoutCall], *, numbers: range, seed: int) -> dict[str, Tensor]:
    """Masks of zeros and ones for every call; a mask depends on seed, number of the draw and call alone."""
    masks = {}
    for one in dropouts:
        stack = torch.empty(len(numbers), *one.shape)
        for mask, number in zip(stack, numbers, strict=True):
            mask.bernoulli_(one.keep, generator=generator(seed, "draw", number, one.name))
        masks[one.name] = stack
    return masks


def _record(network: nn.Module, item: Tensor, items: int) -> list[tuple[torch.Size, float]]:
    """Shape and keep probability of every dropout call on a batch of equal items."""
    calls: list[tuple[torch.Size, float]] = []

    def give(_number: int, shape: torch.Size, keep: float) -> Tensor:
        calls.append((shape, keep))
        return torch.ones(())

    inputs = item.expand(items, *item.shape[1:]).contiguous()
    with predicting(network, dropout=True), _RefuseAlpha(), Masks(give):
        call(network, tensors_of(network), inputs)
    return calls


def _call_of(number: int, two: tuple[torch.Size, float], three: tuple[torch.Size, float]) -> DropoutCall:
    """The k-th call, from its shapes at two and at three items."""
    (short, keep), (long, _) = two, three
    axes = [axis for axis, (a, b) in enumerate(zip(short, long, strict=True)) if a != b]
    if len(axes) > 1 or any(short[axis] * 3 != long[axis] * 2 for axis in axes):
        raise InputError(
            f"dropout call {number} has shape {tuple(short)} on 2 items and {tuple(long)} on 3; "
            "mc_dropout needs at most one axis that grows with the items"
        )
    shape = list(short)
    for axis in axes:
        shape[axis] //= 2
    return DropoutCall(f"dropout.{number}", keep, tuple(shape), axes[0] if axes else None)


def _check_items_share(
    network: nn.Module, item: Tensor, dropouts: tuple[DropoutCall, ...]
) -> tuple[DropoutCall, ...]:
    """The calls with items and other axes merged in the order that treats equal items equally."""
    merged = [one for one in dropouts if one.merged]
    if not merged:
        return dropouts
    masks = {name: stack[0] for name, stack in draw(dropouts, numbers=range(1), seed=0).items()}
    inputs = item.expand(3, *item.shape[1:]).contiguous()
    for items_first in (True, False):
        tried = tuple(replace(s, items_first=items_first) for s in dropouts)
        with predicting(network, dropout=True), masked(tried, masks, 3):
            output = call(network, tensors_of(network), inputs)
        if torch.allclose(output, output[:1].expand_as(output), rtol=1e-4, atol=1e-5):
            return tried
    names = ", ".join(one.name for one in merged)
    raise InputError(f"mc_dropout cannot tell the items apart in {names}: equal items get unequal masks")
