"""Ways to know what a network does not know: one file each, a record that learns and draws."""

from collections.abc import Mapping

from torch import Tensor, nn

from askwise.bayes.learning import State
from askwise.bayes.posteriors import (
    bbb,
    ensemble,
    gaussian_weights,
    ivon,
    laplace,
    mc_dropout,
    modal,
    point,
    swag,
    vbll,
    vogn,
)
from askwise.bayes.posteriors.posterior import Posterior, WeightByWeight
from askwise.errors import InputError, choose
from askwise.optim import IVON, VOGN, Beside
from askwise.optim.beside import AveragedAdam

__all__ = ["POSTERIORS", "Posterior", "WeightByWeight", "as_posterior", "learned_by"]

POSTERIORS: dict[str, type[Posterior]] = {
    module.Config.name: module.Config
    for module in (point, mc_dropout, bbb, vogn, ivon, laplace, modal, ensemble, swag, vbll)
}


def as_posterior(given: object) -> Posterior:
    """A posterior: the record itself, its name, or a table of its name and options."""
    if isinstance(given, str | Mapping):
        options = {"name": given} if isinstance(given, str) else dict(given)
        kind = POSTERIORS[choose("posterior", str(options.pop("name", "")), POSTERIORS)]
        for option in options:
            choose(f"option of posterior {kind.name!r}", option, list(kind().options()))
        return kind(**options)
    if isinstance(given, Posterior) and not isinstance(given, type):
        return given
    names = ", ".join(f"aw.{name}()" for name in POSTERIORS)
    raise InputError(f"posterior must be a name or one of {names}, not {given!r}")


def learned_by(network: nn.Module, optimizer: object) -> tuple[Posterior, State]:
    """The posterior and state that an optimizer has learned; `point` if it knows no deviations."""
    gaussian = optimizer.gaussian if isinstance(optimizer, Beside) else optimizer
    if not isinstance(gaussian, IVON | VOGN):
        return point.Config(), {}
    names: dict[Tensor, str] = {parameter: name for name, parameter in network.named_parameters()}
    if any(parameter not in names for parameter in gaussian.state):
        raise InputError("the optimizer has trained another network; pass the one it was made for")
    rest = optimizer.rest if isinstance(optimizer, Beside | VOGN) else AveragedAdam([], lr=0.0)
    layers = tuple(dict.fromkeys(names[parameter].rpartition(".")[0] for parameter in gaussian.state))
    config = vogn.Config(layers=layers) if isinstance(gaussian, VOGN) else ivon.Config(layers=layers)
    return config, gaussian_weights.kept(network, gaussian, rest)
