"""Alvarez' lecture on Bayesian deep learning (after Gal and Ghahramani): dropout as a posterior."""

from collections.abc import Sequence

from askwise.papers.alvarez import cifar, lenet, streets, uci_sets
from askwise.papers.curves import value_of
from askwise.papers.record import Claim, Pair, Paper, Table


def tables(quick: bool) -> Sequence[Table]:
    """LeNet, NIN and DSN, UCI, SegNet."""
    return (lenet.table_1(quick), cifar.table_2(quick), uci_sets.table_3(quick), streets.table_4(quick))


def _less(ours: str, other: str, key: str, other_key: str, words: str) -> Pair:
    """That a measure of one entry is below another measure of another; where equal, of the same entry."""
    if ours == other:
        return Pair(
            ours=ours,
            baseline=0.0,
            measure=lambda row: 100 * (row[key] - row[other_key]),
            expected="lower",
            words=words,
        )
    return Pair(ours=ours, baseline=other, measure=value_of(key, factor=100.0), expected="lower", words=words)


def claims(quick: bool) -> Sequence[Claim]:
    """What the lecture and the papers behind it say."""

    def name(where: str, part: str = "all images") -> str:
        return lenet.entry(where, part, quick=quick).name

    return [
        Claim(
            sentence="LeNet's error: no dropout > dropout at the end > MC dropout in every layer.",
            table="1",
            pairs=[
                _less(name("end"), name("none"), "error_off", "error_off", "end minus none, error in points"),
                Pair(
                    ours=name("all"),
                    baseline=name("end"),
                    # the lecture's dropout at the end is averaged, its MC dropout is not
                    measure=lambda row: (
                        100 * row["error_mc" if row.settings["dropout"] == "all" else "error_off"]
                    ),
                    expected="lower",
                    words="MC in all layers minus end (off), error in points",
                ),
            ],
        ),
        Claim(
            sentence="Weight averaging fails with dropout in every layer: MC dropout has the lower error.",
            table="1",
            pairs=[
                _less(
                    name("all"), name("all"), "error_mc", "error_off", "MC minus off, dropout in all layers"
                )
            ],
        ),
        Claim(
            sentence="On a quarter of MNIST the Bayesian network overfits less than the one without dropout.",
            table="1",
            pairs=[
                Pair(
                    ours=name("all", "a quarter"),
                    baseline=name("none", "a quarter"),
                    measure=lambda row: row[
                        "overfit_mc" if row.settings["dropout"] == "all" else "overfit_off"
                    ],
                    expected="lower",
                    words="rise of the NLL: MC in all layers minus none",
                )
            ],
        ),
        Claim(
            sentence="MC dropout has a lower error than standard dropout on CIFAR-10 (NIN, DSN, augmented "
            "DSN).",
            table="2",
            pairs=[
                _less(
                    cifar.entry(one, quick=quick).name,
                    cifar.entry(one, quick=quick).name,
                    "error_mc",
                    "error_off",
                    f"{one}: MC minus standard, error in points",
                )
                for one in cifar.THEIRS
            ],
        ),
        Claim(
            sentence="SegNet is better as a Bayesian network.",
            table="4",
            pairs=[
                _less(
                    "CamVid, SegNet-Basic",
                    "CamVid, SegNet-Basic",
                    "iou_off",
                    "iou_mc",
                    "mean IoU in points: off minus MC",
                )
            ],
        ),
    ]


PAPER = Paper(
    name="alvarez",
    title="Alvarez: Bayesian deep learning by dropout",
    cited="J. M. Alvarez, lecture on Bayesian deep learning, after Y. Gal and Z. Ghahramani 2015 (Bayesian "
    "convolutional neural networks with Bernoulli approximate variational inference, arXiv:1506.02158) and "
    "2016.",
    tables=tables,
    claims=claims,
    needs=("mnist", "cifar10"),
    quick_needs=("mnist", "cifar10"),
    priority=[
        *((uci_sets.entry(name, quick=False).name, range(5)) for name in uci_sets.THEIRS),
        *((lenet.entry(where, "a quarter", quick=False).name, range(3)) for where in lenet.KEPT),
        *((lenet.entry(where, "all images", quick=False).name, range(3)) for where in lenet.KEPT),
    ],
)
