"""Alvarez' lecture on Bayesian deep learning (after Gal and Ghahramani): dropout as a posterior."""

from collections.abc import Sequence

from askwise.papers.alvarez import cifar, lenet, streets, uci_sets
from askwise.papers.record import Claim, Paper, Table


def tables(quick: bool) -> Sequence[Table]:
    """LeNet, NIN and DSN, UCI, SegNet."""
    return (lenet.table_1(quick), cifar.table_2(quick), uci_sets.table_3(quick), streets.table_4(quick))


def claims(quick: bool) -> Sequence[Claim]:
    """What the lecture and the papers behind it say."""
    return [*lenet.claims(quick), *cifar.claims(quick), *streets.claims()]


PAPER = Paper(
    name="alvarez",
    title="Alvarez: Bayesian deep learning by dropout",
    cited="J. M. Alvarez, lecture on Bayesian deep learning, after Y. Gal and Z. Ghahramani 2015 (Bayesian "
    "convolutional neural networks with Bernoulli approximate variational inference, arXiv:1506.02158) and "
    "2016.",
    tables=tables,
    claims=claims,
    quick_seeds=range(5),
    needs=("mnist", "cifar10"),
    quick_needs=("mnist", "cifar10"),
    priority=[
        *((uci_sets.entry(name, quick=False).name, range(5)) for name in uci_sets.THEIRS),
        *((lenet.entry(where, "a quarter", quick=False).name, range(3)) for where in lenet.KEPT),
        *((lenet.entry(where, "all images", quick=False).name, range(3)) for where in lenet.KEPT),
    ],
)
