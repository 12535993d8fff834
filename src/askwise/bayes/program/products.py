"""Matrix products of the fast forms, by the one of torch's two libraries that suits the processor.

torch's `@` is MKL's. On an AMD processor with AVX-512 oneDNN is two to two and a half times as fast for large
products, measured; so it is used where there is AVX-512. Elsewhere `@` stays.
"""

from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

_LARGE = 2**16  # multiplications; smaller and empty products stay with `@`


def product(left: Float[Tensor, "M K"], right: Float[Tensor, "K N"]) -> Float[Tensor, "M N"]:
    """`left @ right`."""
    return _by_onednn(left, right) if _suits(left, right) else left @ right


def add_product(
    target: Float[Tensor, "M N"], left: Float[Tensor, "M K"], right: Float[Tensor, "K N"]
) -> Float[Tensor, "M N"]:
    """`target += left @ right`, in place."""
    return target.add_(_by_onednn(left, right)) if _suits(left, right) else target.addmm_(left, right)


def _by_onednn(left: Tensor, right: Tensor) -> Tensor:
    found: Tensor = torch.ops.mkldnn._linear_pointwise(left, right.t(), None, "none", [], "")
    return found


def _suits(left: Tensor, right: Tensor) -> bool:
    """Whether oneDNN takes these and pays: single precision on the CPU, large, and no gradient is wanted."""
    if left.numel() * right.shape[1] < _LARGE:
        return False
    plain = left.dtype == right.dtype == torch.float32 and left.device.type == right.device.type == "cpu"
    return plain and not torch.is_grad_enabled() and _faster()


@cache
def _faster() -> bool:
    """Whether oneDNN is here and the processor is of the kind where it pays."""
    kind = torch.backends.cpu.get_cpu_capability()
    there: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return there and kind.startswith("AVX512") and hasattr(torch.ops.mkldnn, "_linear_pointwise")
