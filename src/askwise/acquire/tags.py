"""Multi-label predictions, read as one ranking across the tags."""

from jaxtyping import Float
from torch import Tensor

from askwise.errors import InputError
from askwise.types import LogProbs


def tag_probs(log_probs: LogProbs) -> Float[Tensor, "N T L"]:
    """The probability that each tag is on: the second of its two classes."""
    if log_probs.ndim != 4 or log_probs.shape[-1] != 2:
        raise InputError(
            f"across_tags reads log_probs [N, T, L, 2], not {list(log_probs.shape)}; "
            "leave it off for other tasks"
        )
    return log_probs[..., 1].exp()
