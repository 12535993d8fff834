"""The two heads of the exam: linear models of real features, whose exact posterior a sampler can find."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float, Float32, Float64
from torch import Tensor, nn

from askwise.data import load
from askwise.seeding import generator
from askwise.tasks import Task, classification, regression

AXES = 20


@dataclass(frozen=True, eq=False)
class Head:
    """Labelled items to learn from, a pool to score, held-out items to predict, and the prior.

    The prior of every weight and bias is N(0, prior_std^2), each on its own.
    """

    name: str
    about: str
    task: Task
    outputs: int
    prior_std: float
    train: tuple[Float32[Tensor, "N D"], Tensor]
    pool: Float32[Tensor, "P D"]
    held: tuple[Float32[Tensor, "M D"], Tensor]

    def network(self, *, dropout: float = 0.0) -> nn.Module:
        """The head as a network; with dropout in front of it where a posterior needs that."""
        layer = nn.Linear(self.train[0].shape[1], self.outputs)
        return nn.Sequential(nn.Dropout(dropout), layer) if dropout else nn.Sequential(layer)


def digits() -> Head:
    """Ten classes of digits over the 20 widest principal axes of their 64 pixels; 300 labels."""
    data = load("digits")
    assert isinstance(data.train_x, Tensor)  # noqa: S101  they are images
    assert isinstance(data.test_x, Tensor)  # noqa: S101
    seen, held = principal_axes(data.train_x.flatten(1), data.test_x.flatten(1), count=AXES)
    chosen, rest = _parts(len(seen), 300)
    return Head(
        name="digits",
        about="softmax over 10 classes; 20 principal axes of the 64 pixels, each of variance 1; "
        "300 labels, 901 pool items, 596 held out; prior N(0, 1)",
        task=classification(),
        outputs=10,
        prior_std=1.0,
        train=(seen[chosen], data.train_y[chosen]),
        pool=seen[rest],
        held=(held, data.test_y),
    )


def diabetes() -> Head:
    """The progression of diabetes, over the 20 widest principal axes of ten measures and their products."""
    from sklearn.datasets import load_diabetes

    rows, target = (torch.from_numpy(part) for part in load_diabetes(return_X_y=True, scaled=False))
    rows = (rows - rows.mean(dim=0)) / rows.std(dim=0)
    one, other = torch.triu_indices(rows.shape[1], rows.shape[1])
    rows = torch.cat([rows, rows[:, one] * rows[:, other]], dim=1)
    is_held = torch.arange(len(rows)) % 3 == 2
    seen, held = principal_axes(rows[~is_held], rows[is_held], count=AXES)
    chosen, rest = _parts(len(seen), 60)
    known = target[~is_held][chosen]
    target = ((target - known.mean()) / known.std()).float()[:, None]
    return Head(
        name="diabetes",
        about="linear-Gaussian, tau = 2; 20 principal axes of the 10 measures and their 55 products, each "
        "of variance 1; 60 labels of variance 1, 235 pool items, 147 held out; prior N(0, 0.09)",
        task=regression(tau=2.0, standardise=False),
        outputs=1,
        prior_std=0.3,
        train=(seen[chosen], target[~is_held][chosen]),
        pool=seen[rest],
        held=(held, target[is_held]),
    )


HEADS: Mapping[str, Callable[[], Head]] = {"digits": digits, "diabetes": diabetes}


def principal_axes(
    rows: Float[Tensor, "N P"], others: Float[Tensor, "M P"], *, count: int
) -> tuple[Float32[Tensor, "N D"], Float32[Tensor, "M D"]]:
    """Both sets of rows on the widest principal axes of the first, scaled so that its variances are 1.

    An axis has two directions; the one along which its largest loading is positive is taken.
    """
    rows, others = rows.double(), others.double()
    mean = rows.mean(dim=0)
    values, vectors = torch.linalg.eigh(torch.cov(rows.T))
    values, vectors = values.flip(0)[:count], vectors.flip(1)[:, :count]
    vectors = vectors * vectors.gather(0, vectors.abs().argmax(dim=0, keepdim=True)).sign()
    return _on(rows - mean, vectors, values), _on(others - mean, vectors, values)


def _on(
    centred: Float64[Tensor, "N P"], vectors: Float64[Tensor, "P D"], values: Float64[Tensor, " D"]
) -> Float32[Tensor, "N D"]:
    return (centred @ vectors * values.rsqrt()).float()


def _parts(count: int, labels: int) -> tuple[Tensor, Tensor]:
    """Positions of the labelled items and of the pool."""
    order = torch.randperm(count, generator=generator(0, "exam", "labels"))
    return order[:labels].sort().values, order[labels:].sort().values
