"""Loustau 2023, Bayesian deep active learning for vision and NLP: VOGN, top-u, photos and tags of texts."""

from collections.abc import Sequence

from askwise.papers.loustau2023 import photos, texts
from askwise.papers.loustau2023.methods import METHODS, OTHERS
from askwise.papers.record import Claim, Paper, Table


def tables(quick: bool) -> Sequence[Table]:
    """Photos, and texts with tags."""
    return (photos.table_1(quick), texts.table_2(quick))


def claims(quick: bool) -> Sequence[Claim]:
    """What the thesis says."""
    found = [study.claim(other, quick=quick) for other in OTHERS for study in (photos, texts)]
    return [*found, texts.warning(quick)]


PAPER = Paper(
    name="loustau2023",
    title="Loustau 2023: Bayesian deep active learning for vision and NLP",
    cited="Loustau 2023, Bayesian deep active learning for vision and NLP; VOGN: K. Osawa et al. 2019, "
    "arXiv:1906.02506.",
    tables=tables,
    claims=claims,
    needs=("cifar10",),
    quick_needs=("cifar10",),
    priority=[
        *((texts.entry(items, name, quick=False).name, range(5)) for items in texts.DATA for name in METHODS),
        *((photos.entry(name, quick=False).name, range(3)) for name in METHODS),
    ],
)
