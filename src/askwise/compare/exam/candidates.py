"""The candidates of the exam: every posterior, with as much of the head's prior as it can take."""

from collections.abc import Callable
from dataclasses import dataclass

from askwise.bayes import posteriors
from askwise.bayes.posteriors import Posterior
from askwise.compare.exam.heads import Head

WHOLE = "yes"
MODE = "mode"
DECAY = "decay"
PRIORS = {
    WHOLE: "the prior is the head's, under kl_weight 1",
    MODE: "the head's prior decides the mode, but for the biases; the width comes from elsewhere",
    DECAY: "Gal's weight decay for a length-scale of 1 / prior_std, but for the biases; the width comes from "
    "the dropout rate",
}
"""What the column `prior` says."""


@dataclass(frozen=True)
class Candidate:
    """A posterior made for a head, and what of the head's prior it takes."""

    name: str
    config: Callable[[Head], Posterior]
    prior: str = WHOLE
    dropout: float = 0.0
    """The rate of the dropout in front of the head, which one posterior needs."""

    def precision(self, head: Head) -> float:
        """The prior precision of the training, where the posterior leaves its prior to it."""
        return head.prior_std**-2 if self.prior == MODE else 0.0

    @property
    def posterior(self) -> str:
        """The posterior's own name; what follows it in the candidate's is a form."""
        return self.name.partition(" ")[0]


def _dropout(rate: float) -> Candidate:
    return Candidate(
        f"mc_dropout {rate:g}",
        lambda head: posteriors.mc_dropout.Config(length_scale=1 / head.prior_std),
        prior=DECAY,
        dropout=rate,
    )


def _laplace(form: str) -> Candidate:
    return Candidate(
        f"laplace {form}",
        lambda head: posteriors.laplace.Config(form=form, prior_precision=head.prior_std**-2),
    )


def _vbll(form: str) -> Candidate:
    return Candidate(
        f"vbll {form}",
        lambda head: posteriors.vbll.Config(form=form, prior_std=head.prior_std, kl_weight=1.0),
    )


CANDIDATES: dict[str, Candidate] = {
    candidate.name: candidate
    for candidate in (
        Candidate("point", lambda _: posteriors.point.Config(), prior=MODE),
        _dropout(0.1),
        _dropout(0.5),
        Candidate(
            "bbb", lambda head: posteriors.bbb.Config(prior_std=head.prior_std, kl_weight=1.0, bias=True)
        ),
        Candidate("vogn", lambda head: posteriors.vogn.Config(prior_std=head.prior_std, kl_weight=1.0)),
        Candidate("ivon", lambda head: posteriors.ivon.Config(prior_std=head.prior_std, kl_weight=1.0)),
        _laplace("full"),
        _laplace("kron"),
        _laplace("diag"),
        Candidate("modal", lambda head: posteriors.modal.Config(prior_precision=head.prior_std**-2)),
        Candidate("ensemble", lambda _: posteriors.ensemble.Config(5), prior=MODE),
        Candidate("swag", lambda _: posteriors.swag.Config(), prior=MODE),
        _vbll("dense"),
        _vbll("diag"),
    )
}
