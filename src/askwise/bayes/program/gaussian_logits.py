"""A Gaussian last layer in closed form: the logits of an item are exactly Gaussian, so they are drawn.

Mean phi mu and variance phi^2 sigma^2 take two small products for all draws together, where T draws
of the weights take T of them. Every item has the distribution it has under drawn weights; what items
have in common is lost, so scores of single items may use it and joint selections may not.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.bayes.program.chain import Chain, Dense
from askwise.seeding import generator
from askwise.types import Draws

_SHAPED = {torch.ops.aten.t.default, torch.ops.aten.transpose.int, torch.ops.aten.permute.default}
"""What may happen to a drawn weight on its way: its mean and its deviation go the same way."""


def fits(steps: Chain, stage: object) -> bool:
    """Whether a suffix is one dense layer whose drawn tensors reach it as they are, or turned."""
    graph = getattr(stage, "graph", None)
    inner = [] if graph is None else [n for n in graph.nodes if n.op == "call_function"]
    return (
        len(steps.steps) == 1
        and isinstance(steps.steps[0], Dense)
        and all(node.target in _SHAPED for node in inner)
    )


def noise(count: int, outputs: int, *, seed: int) -> Float[Tensor, "T C"]:
    """Standard normal numbers for every draw and logit, shared by all items."""
    rows = [torch.randn(outputs, generator=generator(seed, "draw", at, "logits")) for at in range(count)]
    return torch.stack(rows)


def bind(layer: Dense, means: Draws, stds: Draws, shared: Tensor) -> Callable[[Tensor], Tensor]:
    """From the source [n, ...] to the outputs [n, T, C]; means and deviations are of the drawn tensors."""

    def of(part: Tensor | str | None, known: Draws, fixed: bool) -> Tensor | None:
        if isinstance(part, str):
            return known[part]
        return part if fixed else None

    weight, bias = (of(part, means, True) for part in (layer.weight, layer.bias))
    spread, bias_spread = (of(part, stds, False) for part in (layer.weight, layer.bias))
    assert weight is not None  # noqa: S101  a dense layer always has one
    columns = shared.to(weight).unsqueeze(-1)  # [T, C, 1]

    def outputs(source: Tensor) -> Tensor:
        phi = source.flatten(1)
        mean = phi @ weight if bias is None else torch.addmm(bias, phi, weight)
        variance = torch.zeros_like(mean) if spread is None else phi.square() @ spread.square()
        if bias_spread is not None:
            variance = variance + bias_spread.square()
        # Items last in memory, as reductions want them.
        drawn = torch.addcmul(mean.t().contiguous(), variance.sqrt_().t().contiguous(), columns)
        return drawn.permute(2, 0, 1)

    return outputs
