"""From one vector for each token to one for the text."""

from jaxtyping import Bool, Float
from torch import Tensor


def masked_mean(
    vectors: Float[Tensor, "N length D"], there: Bool[Tensor, "N length"]
) -> Float[Tensor, "N D"]:
    """The mean over the tokens that are there; zeros for a text without any."""
    weights = there.unsqueeze(2).to(vectors.dtype)
    return (vectors * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
