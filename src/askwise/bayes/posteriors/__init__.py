"""Ways to put doubt into a network: one file each, the same three names in the same order.

Config says what is wanted, fit learns it, draw makes whole networks of it.
"""

from types import ModuleType
from typing import Any, TypeAlias

from askwise.bayes.posteriors import bbb, ensemble, ivon, laplace, mc_dropout, point, swag, vbll, vogn
from askwise.errors import InputError

Config: TypeAlias = (
    point.Config
    | mc_dropout.Config
    | bbb.Config
    | vogn.Config
    | ivon.Config
    | laplace.Config
    | ensemble.Config
    | swag.Config
    | vbll.Config
)

POSTERIORS: dict[str, ModuleType] = {
    module.Config.name: module
    for module in (point, mc_dropout, bbb, vogn, ivon, laplace, ensemble, swag, vbll)
}


def home(config: Any) -> ModuleType:
    """The file of a posterior, by its Config."""
    module = POSTERIORS.get(getattr(config, "name", None) or "")
    if module is None or not isinstance(config, module.Config):
        names = ", ".join(f"aw.{name}()" for name in POSTERIORS)
        raise InputError(f"posterior must be one of {names}, not {config!r}")
    return module


def distinct(config: Config, draws: int) -> int:
    """How many of so many draws are taken: an ensemble has no more networks than members."""
    most: int = getattr(config, "distinct", draws)
    return min(draws, most)
