"""One candidate, trained on one head and graded."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float64
from torch import Tensor

from askwise.bayes.fit import fit
from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import moments
from askwise.compare.exam.answer import Answer, answer
from askwise.compare.exam.candidates import CANDIDATES
from askwise.compare.exam.gold import Gold
from askwise.compare.exam.grades import Grades, grade
from askwise.compare.exam.heads import Head
from askwise.engine import Local
from askwise.seeding import derive, generator
from askwise.tasks import regression
from askwise.train import Training


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How every candidate is trained, and how many networks are drawn to grade it.

    The training is long: the exam is about what a posterior converges to. bbb is there sooner: on digits
    its widths are those of the mean-field optimum after 500 steps (median ratio 1.00) as after 8,000.
    """

    steps: int = 8000
    batch_size: int = 32
    lr: float = 3e-3
    draws: int = 4000

    def training(self, *, prior_precision: float = 0.0) -> Training:
        """How a candidate is trained."""
        return Training(
            epochs=1,
            min_steps=self.steps,
            batch_size=self.batch_size,
            lr=self.lr,
            prior_precision=prior_precision,
        )


def learned(protocol: Protocol, head: Head, name: str, *, seed: int) -> Fitted:
    """A candidate after its training on a head."""
    candidate = CANDIDATES[name]
    with torch.random.fork_rng():
        torch.manual_seed(0)  # the weights are drawn anew from the seed
        network = head.network(dropout=candidate.dropout)
    return fit(
        network,
        head.train,
        posterior=candidate.config(head),
        task=head.task,
        training=protocol.training(prior_precision=candidate.precision(head)),
        start="scratch",
        seed=derive(seed, "exam", "fit"),
    )


def answered(protocol: Protocol, head: Head, fitted: Fitted, *, seed: int) -> Answer:
    """What a trained candidate says about its head."""
    weights = drawn_weights(
        fitted, len(head.pool[0]), draws=protocol.draws, seed=derive(seed, "exam", "draws")
    )
    return answer(head, weights, finite=fitted.posterior.distinct(protocol.draws) < protocol.draws)


def drawn_weights(fitted: Fitted, width: int, *, draws: int, seed: int) -> Float64[Tensor, "T C W"]:
    """The weights of every drawn head, with the bias behind them, as its predictions show them.

    Read off from the outputs for no input at all and for each feature alone: a mask in front of the
    head counts as weights that are nought.
    """
    plain = replace(fitted, task=regression(tau=1.0), programs={})  # outputs as they are
    probes = torch.cat([torch.eye(width), torch.zeros(1, width)])
    found = moments(plain, probes, draws=draws, seed=seed, engine=Local(1))[..., 0].double()
    found[:-1] -= found[-1:].clone()
    return found.permute(1, 2, 0).contiguous()


def mean_field(protocol: Protocol, head: Head, gold: Gold) -> Answer:
    """What the mean-field optimum says: as far as a posterior of independent weights can come."""
    rng = generator(0, "exam", "mean field", "draws")
    noise = torch.randn(protocol.draws, len(gold.mean_field_mean), generator=rng, dtype=torch.float64)
    weights = gold.mean_field_mean + gold.mean_field_std * noise
    return answer(head, weights.view(protocol.draws, head.outputs, -1))


def sitting(protocol: Protocol, head: Head, gold: Gold, name: str, *, seed: int) -> Grades:
    """The grades of one candidate."""
    fitted = learned(protocol, head, name, seed=seed)
    found = answered(protocol, head, fitted, seed=seed)
    return grade(found, gold.whole, mean_field_std=gold.mean_field_std)
