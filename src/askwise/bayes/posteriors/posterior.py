"""What every posterior is: a frozen record of choices that learns from labels and draws networks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

from torch import Tensor, nn

from askwise.bayes.learning import Learned, State, TrainingJob
from askwise.bayes.program.trace import DropoutCall
from askwise.references import defaults_of, written
from askwise.types import Draws


@runtime_checkable
class Posterior(Protocol):
    """A way to know what a network does not know; one file each, with these methods in this order."""

    name: ClassVar[str]

    @property
    def dropout(self) -> bool:
        """Whether the network's own dropout stays on when it predicts."""

    def fit(self, network: nn.Module, job: TrainingJob) -> Learned:
        """The state of the posterior; the network itself is trained in place."""

    def draw(
        self, network: nn.Module, state: State, *, numbers: range, seed: int, dropouts: Sequence[DropoutCall]
    ) -> Draws:
        """Values [T, ...] of the tensors that differ between draws, by name."""

    def distinct(self, draws: int) -> int:
        """Number of distinct draws among `draws`; an ensemble has no more than its members."""
        return draws

    def shown(self) -> "Posterior":
        """The posterior whose mean prediction is shown, measured and calibrated: itself, as a rule.

        Scores that look at the mean prediction take it too; uncertainty, and what looks at single
        draws, is of this posterior's own.
        """
        return self

    def placed(self, network: nn.Module, item: Tensor) -> list[str]:
        """Names of the layers that the posterior is placed on; none where it has no placement."""
        del network, item
        return []

    def suits(self, network: nn.Module, item: Tensor) -> None:
        """Refuse a network that the posterior cannot be learned on, before anything is learned."""
        self.placed(network, item)

    def options(self) -> dict[str, Any]:
        """Every option by its name, as a plan or a saved model writes them down."""
        return {field.name: getattr(self, field.name) for field in fields(cast(Any, self))}

    def __repr__(self) -> str:
        """As it is written: `aw.bbb(last=1)`, with the options that differ from their defaults."""
        return written(f"aw.{self.name}", self.options(), defaults_of(self))


@runtime_checkable
class WeightByWeight(Protocol):
    """A posterior of independent Gaussians, one for each weight: it can be pruned and has an ELBO."""

    def stds(self, means: Mapping[str, Tensor], state: State) -> dict[str, Tensor]:
        """Standard deviation of every Gaussian weight, by name."""

    def prior_of(self, weight: Tensor) -> float:
        """Standard deviation of the prior for a layer with this weight tensor."""

    def without_noise(self, state: State, where: Mapping[str, Tensor]) -> State:
        """The state in which the masked weights are their means in every draw."""

    def narrowed(self, state: State, take: Callable[[str, Tensor], Tensor]) -> State:
        """The state of a network with fewer channels; `take` keeps the right part of a named tensor."""
