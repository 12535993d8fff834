"""Deep Bayesian active learning: ask for exactly the labels a network needs.

Names are loaded when first used, so that `import askwise` and `askwise --help` stay instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from askwise import assess as assess
    from askwise import data as data
    from askwise import encoders as encoders
    from askwise import nets as nets
    from askwise import optim as optim
    from askwise import oracle as oracle
    from askwise import pool as pool
    from askwise import tasks as tasks
    from askwise.acquire import score as score
    from askwise.bayes.calibrate import calibrate as calibrate
    from askwise.bayes.evaluate import evaluate as evaluate
    from askwise.bayes.fit import fit as fit
    from askwise.bayes.fitted import Fitted as Fitted
    from askwise.bayes.fitted import load as load
    from askwise.bayes.posteriors.bbb import Config as bbb
    from askwise.bayes.posteriors.ensemble import Config as ensemble
    from askwise.bayes.posteriors.ivon import Config as ivon
    from askwise.bayes.posteriors.laplace import Config as laplace
    from askwise.bayes.posteriors.mc_dropout import Config as mc_dropout
    from askwise.bayes.posteriors.modal import Config as modal
    from askwise.bayes.posteriors.point import Config as point
    from askwise.bayes.posteriors.swag import Config as swag
    from askwise.bayes.posteriors.vbll import Config as vbll
    from askwise.bayes.posteriors.vogn import Config as vogn
    from askwise.bayes.predict import features as features
    from askwise.bayes.predict import log_probs as log_probs
    from askwise.bayes.predict import moments as moments
    from askwise.bayes.predict import predict as predict
    from askwise.bayes.predict import score_pool as score_pool
    from askwise.bayes.prune.filters import prune_filters as prune_filters
    from askwise.bayes.prune.weights import prune as prune
    from askwise.bayes.prune.weights import sparsity as sparsity
    from askwise.export.items import pool_for as pool_for
    from askwise.export.onnx import export_onnx as export_onnx
    from askwise.loop.learner import Learner as Learner
    from askwise.report.assemble import write_report as write_report
    from askwise.selection import select as select
    from askwise.store.facts import CANNOT_TELL as CANNOT_TELL
    from askwise.store.facts import RETRACT as RETRACT
    from askwise.store.facts import SKIP as SKIP
    from askwise.train import Training as Training

__version__ = "0.2.0"

_HOMES = {
    "CANNOT_TELL": "askwise.store.facts:CANNOT_TELL",
    "Fitted": "askwise.bayes.fitted:Fitted",
    "Learner": "askwise.loop.learner:Learner",
    "RETRACT": "askwise.store.facts:RETRACT",
    "SKIP": "askwise.store.facts:SKIP",
    "Training": "askwise.train:Training",
    "assess": "askwise.assess:",
    "bbb": "askwise.bayes.posteriors.bbb:Config",
    "calibrate": "askwise.bayes.calibrate:calibrate",
    "data": "askwise.data:",
    "encoders": "askwise.encoders:",
    "ensemble": "askwise.bayes.posteriors.ensemble:Config",
    "evaluate": "askwise.bayes.evaluate:evaluate",
    "export_onnx": "askwise.export.onnx:export_onnx",
    "features": "askwise.bayes.predict:features",
    "fit": "askwise.bayes.fit:fit",
    "ivon": "askwise.bayes.posteriors.ivon:Config",
    "laplace": "askwise.bayes.posteriors.laplace:Config",
    "load": "askwise.bayes.fitted:load",
    "log_probs": "askwise.bayes.predict:log_probs",
    "mc_dropout": "askwise.bayes.posteriors.mc_dropout:Config",
    "modal": "askwise.bayes.posteriors.modal:Config",
    "moments": "askwise.bayes.predict:moments",
    "nets": "askwise.nets:",
    "optim": "askwise.optim:",
    "oracle": "askwise.oracle:",
    "point": "askwise.bayes.posteriors.point:Config",
    "pool": "askwise.pool:",
    "pool_for": "askwise.export.items:pool_for",
    "predict": "askwise.bayes.predict:predict",
    "prune": "askwise.bayes.prune.weights:prune",
    "prune_filters": "askwise.bayes.prune.filters:prune_filters",
    "score": "askwise.acquire:score",
    "score_pool": "askwise.bayes.predict:score_pool",
    "select": "askwise.selection:select",
    "sparsity": "askwise.bayes.prune.weights:sparsity",
    "swag": "askwise.bayes.posteriors.swag:Config",
    "tasks": "askwise.tasks:",
    "vbll": "askwise.bayes.posteriors.vbll:Config",
    "vogn": "askwise.bayes.posteriors.vogn:Config",
    "write_report": "askwise.report.assemble:write_report",
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
