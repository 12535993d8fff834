"""Gal, Islam and Ghahramani 2017, Deep Bayesian Active Learning with Image Data (ICML; arXiv 1703.02910)."""

from collections.abc import Sequence

from askwise.papers.gal2017 import labels_to, skin, thousand, two_digits
from askwise.papers.gal2017.labels_to import entry
from askwise.papers.record import Claim, Paper, Table


def tables(quick: bool) -> Sequence[Table]:
    """Tables a to e."""
    studies = (two_digits.table_c, thousand.table_d, skin.table_e)
    return (labels_to.table_a(quick), labels_to.table_b(quick), *(table(quick) for table in studies))


def claims(quick: bool) -> Sequence[Claim]:
    """What the paper says, and what decides it."""
    return [*labels_to.claims(quick), *two_digits.claims(), *thousand.claims(), *skin.claims()]


def _priority() -> list[tuple[str, Sequence[int]]]:
    """What `make results` does in full first: the authors' network, four acquisitions."""
    four = ("VR, votes", "BALD", "entropy", "random")
    short = [
        entry("20 + 10", "authors'", steps, name, quick=False).name
        for steps in (200, 400, 50)
        for name in four
    ]
    long = [entry("100 + 5", "authors'", 200, name, quick=False).name for name in four]
    rest = [
        entry("100 + 5", "authors'", steps, name, quick=False).name for steps in (50, 400) for name in four
    ]
    return [
        *((name, range(3)) for name in [*short, *long]),
        *((name, range(10)) for name in _cheap()),
        *((name, range(3)) for name in rest),
        *((name, range(3, 10)) for name in [*short[:4], *long, *short[4:]]),
    ]


def _cheap() -> list[str]:
    """The skin lesions and two digits: cheap enough for ten seeds."""
    return [line.entry.name for table in (skin.table_e, two_digits.table_c) for line in table(False).lines]


PAPER = Paper(
    name="gal2017",
    title="Gal, Islam, Ghahramani 2017: Deep Bayesian active learning with image data",
    cited="Y. Gal, R. Islam, Z. Ghahramani. Deep Bayesian Active Learning with Image Data. ICML 2017, "
    "arXiv:1703.02910. The counts of its table of images to 10 % and 5 % error start after 100 labels, five "
    "a round: counted so, the first crossings of the authors' stored curves equal all its cells (no curve is "
    "stored for random). Read as totals from 20 labels on, they are 100 too low.",
    tables=tables,
    claims=claims,
    needs=("mnist",),
    priority=_priority(),
)
