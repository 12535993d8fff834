"""The exact posteriors of the exam's heads, by a long run of NUTS (NumPyro); `askwise compare --exam` grades by them.

    python -m venv .venv-exam
    .venv-exam/bin/pip install -c constraints.txt torch==2.13.0 -e . -r benchmarks/exam_requirements.txt
    .venv-exam/bin/python benchmarks/exam_gold.py               minutes, on one core

It writes src/askwise/compare/exam/gold_*.safetensors: in the package, because the command needs them. They hold
moments, predictions and scores, not draws, so that neither the tests nor a user needs JAX.
"""

import argparse
import os
from importlib.metadata import version
from time import perf_counter
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import jax
import jax.numpy as jnp
import numpy as np
import torch
from numpyro.diagnostics import summary
from numpyro.infer import MCMC, NUTS
from provenance import commit
from torch import Tensor

from askwise.compare.exam.answer import Answer, answer, with_ones
from askwise.compare.exam.gold import Gold, save
from askwise.compare.exam.heads import HEADS, Head
from askwise.seeding import derive, generator

CHAINS, WARM_UP, DRAWS = 4, 1000, 12500  # draws of each chain; the first two chains make one half
TURNS, SAMPLES = 20000, 32  # steps towards the mean-field optimum, and draws of the outputs in each


def log_density(head: Head) -> Any:
    """Log of likelihood times prior, up to a constant, as a function of the weights [C, W]."""
    features = jnp.asarray(with_ones(head.train[0]).numpy())
    labels = jnp.asarray(head.train[1].numpy())

    def log_likelihood(weights: Any) -> Any:
        outputs = features @ weights.T
        if head.task.name == "classification":
            return jnp.take_along_axis(jax.nn.log_softmax(outputs, axis=1), labels[:, None], axis=1).sum()
        return -head.task.options["tau"] / 2 * jnp.square(labels - outputs).sum()

    return lambda weights: log_likelihood(weights) - jnp.square(weights).sum() / (2 * head.prior_std**2)


def sampled(head: Head, *, draws: int, seed: int) -> tuple[Tensor, dict[str, Any]]:
    """Draws [chains, draws, C, W] from the posterior, and how good they are."""
    target = log_density(head)
    shape = (CHAINS, head.outputs, head.train[0].shape[1] + 1)
    start, run = jax.random.split(jax.random.PRNGKey(seed))
    sampler = MCMC(
        NUTS(potential_fn=lambda weights: -target(weights)),
        num_warmup=WARM_UP,
        num_samples=draws,
        num_chains=CHAINS,
        chain_method="sequential",
        progress_bar=False,
    )
    began = perf_counter()
    first = head.prior_std * jax.random.normal(start, shape)  # from the prior: chains start far apart
    sampler.run(run, init_params=first, extra_fields=("diverging", "num_steps"))
    found = np.asarray(sampler.get_samples(group_by_chain=True))
    fields = sampler.get_extra_fields()
    # Of the weights and of their squares: widths are graded, not only means.
    good = {
        name: summary({name: values})[name]
        for name, values in (("weights", found), ("squares", np.square(found - found.mean(axis=(0, 1)))))
    }
    told = {
        "chains": CHAINS,
        "warm_up": WARM_UP,
        "draws_of_each_chain": draws,
        "r_hat_highest": {name: float(one["r_hat"].max()) for name, one in good.items()},
        "effective_sample_size_lowest": {name: float(one["n_eff"].min()) for name, one in good.items()},
        "divergences": int(fields["diverging"].sum()),
        "leapfrog_steps_mean": float(fields["num_steps"].mean()),
        "seconds": round(perf_counter() - began, 1),
    }
    return torch.from_numpy(found.copy()), told


def mean_field(head: Head) -> tuple[Tensor, Tensor, dict[str, Any]]:
    """Means and deviations [C, W] of the independent Gaussians with the highest ELBO, and how near they are.

    For numbers they are known: the mean of the posterior, 1 / sqrt(diagonal of its precision). For classes: Adam on
    noise of the outputs, with a falling step. The optimum has std^-2 = prior^-2 + E[p (1 - p)] phi^2 summed over the
    items (Price's theorem), which is checked with draws of its own.
    """
    features, labels = with_ones(head.train[0]), head.train[1]
    if head.task.name == "regression":
        tau = head.task.options["tau"]
        precision = tau * features.T @ features + torch.eye(features.shape[1]) / head.prior_std**2
        mean = torch.linalg.solve(precision, tau * features.T @ labels.double())
        return mean.T, precision.diagonal().rsqrt()[None], {"found": "closed form"}
    rng = generator(0, "exam", "mean field")
    mean = torch.zeros(head.outputs, features.shape[1], dtype=torch.float64, requires_grad=True)
    log_std = torch.full_like(mean, -0.5, requires_grad=True)
    optimizer = torch.optim.Adam([mean, log_std], lr=0.03)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, TURNS)
    for _ in range(TURNS):
        optimizer.zero_grad()
        variance = log_std.exp().square()
        outputs = noisy(features, mean, variance, rng, SAMPLES)
        likely = outputs.log_softmax(dim=-1)[:, torch.arange(len(labels)), labels].sum(dim=1).mean()
        ratio = (variance + mean.square()) / head.prior_std**2
        (ratio.sum() / 2 - log_std.sum() - likely).backward()
        optimizer.step()
        falling.step()
    mean, std = mean.detach(), log_std.detach().exp()
    p = noisy(features, mean, std.square(), rng, 4000).softmax(dim=-1)
    precision = head.prior_std**-2 + (p * (1 - p)).mean(dim=0).T @ features.square()
    off = (std * precision.sqrt() - 1).abs()
    pull = (p.mean(dim=0) - torch.eye(head.outputs)[labels]).T @ features + mean / head.prior_std**2
    return (
        mean,
        std,
        {
            "found": f"Adam, {TURNS} steps",
            "std_off_by_at_most": off.max().item(),
            "mean_off_by_at_most_std": (pull / precision / std).abs().max().item(),
        },
    )


def noisy(features: Tensor, mean: Tensor, variance: Tensor, rng: torch.Generator, draws: int) -> Tensor:
    """Outputs [draws, N, C] under independent Gaussian weights; each item has noise of its own."""
    spread = (features.square() @ variance.T).sqrt()
    noise = torch.randn(draws, *spread.shape, generator=rng, dtype=torch.float64)
    return features @ mean.T + spread * noise


def gold(head: Head, *, draws: int, seed: int) -> Gold:
    """All that is kept of a head's posterior."""
    weights, told = sampled(head, draws=draws, seed=seed)
    mean, std, near = mean_field(head)
    names = ("jax", "jaxlib", "numpyro", "numpy", "torch", "scikit-learn")
    made = {
        "command": "python benchmarks/exam_gold.py",
        "commit": commit(),
        "versions": {name: version(name) for name in names},
        "head": head.about,
        "seed": seed,
        "sampler": "NUTS (NumPyro), float64, diagonal mass matrix",
        **told,
        "mean_field": near,
    }
    return Gold(
        in_order(head, weights),
        (in_order(head, weights[:2]), in_order(head, weights[2:])),
        mean.flatten(),
        std.flatten(),
        made,
    )


def in_order(head: Head, weights: Tensor) -> Answer:
    """The answer of some chains, one after the other."""
    return answer(head, weights.flatten(0, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heads", default=",".join(HEADS))
    parser.add_argument("--draws", type=int, default=DRAWS)
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    torch.set_num_threads(1)
    for name in options.heads.split(","):
        head = HEADS[name]()
        found = gold(head, draws=options.draws, seed=derive(0, "exam", name) % 2**31)
        print(name, save(head, found))
        print(*(f"  {key}: {value}" for key, value in found.made.items()), sep="\n")


if __name__ == "__main__":
    main()
