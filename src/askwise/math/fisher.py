"""Random vectors whose expected square is the Fisher information of a label at a network's outputs."""

import torch
from jaxtyping import Float
from torch import Tensor


def probe(
    d: Float[Tensor, "N E *sites"], u: Float[Tensor, "N E *sites"], rng: torch.Generator
) -> Float[Tensor, "N E *sites"]:
    """Vectors v with E[v v^T] = diag(d) - u u^T at every site; exact, and no mean, for one output.

    It is the symmetric root of the matrix (in units of sqrt(d)) times random signs. Against labels
    drawn from the model's own prediction, which have the same expectation, signs have far less
    variance where the model is sure: there a wrong label is rare, and its gradient large.
    """
    root = d.sqrt()
    q = torch.where(root > 0, u / root.clamp(min=torch.finfo(d.dtype).tiny), 0.0)
    left = (1 - q.square().sum(dim=1, keepdim=True)).clamp(min=0)  # what rounding leaves below 0 is 0
    signs = torch.randint(0, 2, d.shape, generator=rng, device=d.device).to(d.dtype) * 2 - 1
    # (1 - q q^T / (1 + sqrt(left)))^2 = 1 - q q^T
    return root * (signs - q * (q * signs).sum(dim=1, keepdim=True) / (1 + left.sqrt()))
