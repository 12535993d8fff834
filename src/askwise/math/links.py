"""From a network's outputs to log-probabilities over the last axis: softmax, or softplus normalised.

Both keep the memory layout they are given (`torch.log_softmax` copies) and stay finite for any
finite logits.
"""

import torch
from jaxtyping import Float
from torch import Tensor

_LINEAR_BELOW = -20.0  # there log softplus(x) is x - exp(x)/2 to the last bit of a float64


def log_softmax(logits: Float[Tensor, "*batch C"]) -> Float[Tensor, "*batch C"]:
    """Log of exp(x) / sum of exp(x)."""
    if logits.ndim == 1:
        return _normalised(logits[None])[0]
    return _normalised(logits)


def log_softplus(logits: Float[Tensor, "*batch C"]) -> Float[Tensor, "*batch C"]:
    """Log of softplus(x) / sum of softplus(x), as in Shridhar et al. 2019.

    Its tails are linear where softmax's are exponential, so one large logit claims less.
    """
    inner = logits.clamp(min=_LINEAR_BELOW)  # the other side of `where` must stay finite for gradients
    near = (inner.clamp(min=0) + inner.abs().neg().exp().log1p()).log()
    far = logits.clamp(max=_LINEAR_BELOW)
    return log_softmax(torch.where(logits < _LINEAR_BELOW, far - far.exp() / 2, near))


def _normalised(logits: Float[Tensor, "n *batch C"]) -> Float[Tensor, "n *batch C"]:
    """The logits minus their log-sum-exp.

    The maximum is taken off first and stays off: adding it back to the small log-sum would lose
    digits when logits are large.
    """
    moved = logits.movedim(0, -1)
    shifted = moved - moved.amax(dim=-2, keepdim=True)
    return (shifted - shifted.exp().sum(dim=-2, keepdim=True).log()).movedim(-1, 0)
