"""How good a round's model is on labelled data that it never saw, from predictions at hand."""

from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from askwise.tasks import classification


def measure(probs: Float[Tensor, "N C"], labels: Int64[Tensor, " N"]) -> dict[str, Any]:
    """The measures of classification, and the negative log-likelihood; see `askwise.tasks`."""
    task = classification()
    meter = task.metrics()
    meter.update(probs, labels)
    found = meter.compute()
    log_probs = probs.double().clamp_min(torch.finfo(torch.float32).tiny).log()[:, None]  # as of one draw
    nll = -task.log_likelihood(log_probs, labels).mean().item()
    return {"accuracy": found.pop("accuracy"), "nll": nll, **found}
