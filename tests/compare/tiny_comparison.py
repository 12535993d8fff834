"""A comparison that takes a second: few digits, a dense network, one epoch."""

from askwise.compare import Job, Protocol

TINY = Protocol(network="mlp", network_options={"hidden": [8], "dropout": 0.2}, labels=60, epochs=10, draws=3)
NUMBERS = {
    "kl_weight": None, "elbo": None,
    "nll": 0.3, "brier": 0.2, "ece": 0.05, "auroc_total": 0.9, "auroc_epistemic": 0.8,
    "training_cpu_s": 1.5, "prediction_cpu_s": 0.25, "parameters": 1200, "commit": "abc",
}  # fmt: skip


def row(posterior: str, seed: int, accuracy: float, **changes):
    return {"posterior": posterior, "seed": seed, "accuracy": accuracy, **NUMBERS, **changes}


def job(posterior: str = "point", seed: int = 0) -> Job:
    return Job(posterior, seed)
