"""How many floating-point operations a network takes, counted without loading torch's compiler."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry


def operations(network: nn.Module, inputs: Tensor) -> int:
    """The floating-point operations of one pass, by torch's own formulas for products and convolutions."""
    counting = _Counting()
    with torch.no_grad(), counting:
        network(inputs)
    return counting.total


class _Counting(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees every operation on its way; what `FlopCounterMode` counts, without the names of modules."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.total = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Not: torch would load its whole compiler, two seconds, to keep it out of here."""
        return False

    def __torch_dispatch__(
        self,
        function: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """What the operation gives; its cost is added up."""
        given, packet = dict(kwargs or {}), function._overloadpacket
        if packet not in flop_registry:
            with self:
                inner = function.decompose(*args, **given)
            if inner is not NotImplemented:
                return inner
        outputs = function(*args, **given)
        cost: Callable[..., int] | None = flop_registry.get(packet)
        if cost is not None:
            self.total += cost(*args, **given, out_val=outputs)
        return outputs
