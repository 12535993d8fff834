"""Deep Bayesian active learning: ask for exactly the labels a network needs.

Names are loaded when first used, so that `import askwise` and `askwise --help` stay instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from askwise import data as data
    from askwise import nets as nets
    from askwise import oracle as oracle
    from askwise import pool as pool
    from askwise.acquire import score as score
    from askwise.bayes.fit import fit as fit
    from askwise.bayes.fitted import Fitted as Fitted
    from askwise.bayes.fitted import load as load
    from askwise.bayes.posteriors.bbb import Config as bbb
    from askwise.bayes.posteriors.mc_dropout import Config as mc_dropout
    from askwise.bayes.posteriors.point import Config as point
    from askwise.bayes.predict import features as features
    from askwise.bayes.predict import log_probs as log_probs
    from askwise.bayes.predict import predict as predict
    from askwise.bayes.predict import score_pool as score_pool
    from askwise.loop.learner import Learner as Learner
    from askwise.selection import select as select
    from askwise.store.facts import CANNOT_TELL as CANNOT_TELL
    from askwise.store.facts import SKIP as SKIP
    from askwise.train import Training as Training

__version__ = "0.1.0"

_HOMES = {
    "CANNOT_TELL": "askwise.store.facts:CANNOT_TELL",
    "Fitted": "askwise.bayes.fitted:Fitted",
    "Learner": "askwise.loop.learner:Learner",
    "SKIP": "askwise.store.facts:SKIP",
    "Training": "askwise.train:Training",
    "bbb": "askwise.bayes.posteriors.bbb:Config",
    "data": "askwise.data:",
    "features": "askwise.bayes.predict:features",
    "fit": "askwise.bayes.fit:fit",
    "load": "askwise.bayes.fitted:load",
    "log_probs": "askwise.bayes.predict:log_probs",
    "mc_dropout": "askwise.bayes.posteriors.mc_dropout:Config",
    "nets": "askwise.nets:",
    "oracle": "askwise.oracle:",
    "point": "askwise.bayes.posteriors.point:Config",
    "pool": "askwise.pool:",
    "predict": "askwise.bayes.predict:predict",
    "score": "askwise.acquire:score",
    "score_pool": "askwise.bayes.predict:score_pool",
    "select": "askwise.selection:select",
}

__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"askwise has no {name!r}; it has: {', '.join(sorted(_HOMES))}")
    module, _, attribute = _HOMES[name].partition(":")
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def __dir__() -> list[str]:
    return __all__
