"""The bins of a reliability diagram, from predictions and labels."""

from jaxtyping import Float, Int64
from torch import Tensor

from askwise.errors import InputError, positive
from askwise.report.content import Bin


def reliability(
    probs: Float[Tensor, "N C"], labels: Int64[Tensor, " N"], *, bins: int = 15
) -> tuple[Bin, ...]:
    """Test items by the confidence of their prediction, in equal steps; empty bins are left out.

    Their gaps, weighted by their counts, sum to the expected calibration error (Guo et al. 2017).
    """
    if len(probs) == 0:
        raise InputError("a reliability diagram needs at least one prediction")
    confidence, guess = probs.double().max(dim=1)
    correct = (guess == labels).double()
    place = (confidence * positive("bins", bins)).long().clamp(max=bins - 1)
    found = []
    for number in range(bins):
        inside = place == number
        if inside.any():
            means = confidence[inside].mean().item(), correct[inside].mean().item()
            found.append(Bin(*means, count=int(inside.sum())))
    return tuple(found)
