"""Ways to know what a network does not know: one file each, a record that learns and draws."""

from collections.abc import Mapping

from askwise.bayes.posteriors import (
    bbb,
    ensemble,
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

__all__ = ["POSTERIORS", "Posterior", "WeightByWeight", "as_posterior"]

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
