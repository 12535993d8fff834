"""The log-uniform prior of variational dropout (Kingma et al. 2015): density in proportion to 1 / |w|."""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

_K1, _K2, _K3 = 0.63576, 1.87320, 1.48695  # Molchanov et al. 2017, fitted to the integral


def kl(log_alpha: Float[Tensor, "*shape"]) -> Float[Tensor, ""]:
    """KL(q||p) in nats, summed over all weights, of q = N(w, alpha w^2) from p(w) ~ 1 / |w|.

    The prior has no integral, so the divergence is known up to a constant; here it is 0 where alpha is
    infinite. It does not depend on w. The approximation is within .01 of the integral.
    """
    return (_K1 * (-(_K2 + _K3 * log_alpha)).sigmoid() + F.softplus(-log_alpha) / 2).sum()
