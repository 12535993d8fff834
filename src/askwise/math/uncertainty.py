"""How uncertain a prediction is, and why: total = epistemic + aleatoric."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from askwise.math import entropy
from askwise.types import LogProbs


@dataclass(frozen=True)
class Uncertainty:
    """Three tensors of one shape: `epistemic` is what labels could remove, `aleatoric` what they cannot."""

    total: Tensor
    epistemic: Tensor
    aleatoric: Tensor


def entropies(log_probs: LogProbs) -> Uncertainty:
    """Uncertainty in nats per site [N, *sites]: entropy of the mean, mutual information, mean entropy.

    The mutual information is a difference that rounding can push below 0; it is then 0.
    """
    total, aleatoric = entropy.entropies(log_probs)
    return Uncertainty(total, (total - aleatoric).clamp(min=0), aleatoric)


def variances(log_probs: LogProbs) -> Uncertainty:
    """Uncertainty as variances per class [N, *sites, C]; the two parts sum to p(1 - p) (Kwon et al. 2018)."""
    p = log_probs.exp()
    mean = p.mean(dim=1)
    epistemic: Float[Tensor, "N *sites C"] = (p - mean.unsqueeze(1)).square().mean(dim=1)
    aleatoric: Float[Tensor, "N *sites C"] = (p * (1 - p)).mean(dim=1)
    return Uncertainty(epistemic + aleatoric, epistemic, aleatoric)
