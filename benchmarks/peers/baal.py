"""Baal: ModelWrapper.predict_on_dataset over patched dropout, then its BALD.

Loaded without worker processes, so that it has the same threads as everybody else.
"""

from collections.abc import Callable

import numpy as np
import torch
from baal.active.heuristics import BALD
from baal.bayesian.dropout import patch_module
from baal.modelwrapper import ModelWrapper, TrainingArgs
from torch.utils.data import TensorDataset

from peers.common import BATCH, gal_cnn, rows


def loop(*, file: str, n: int, draws: int) -> Callable[[], np.ndarray]:
    """T passes over each batch of 256."""
    return _prepared(TrainingArgs(replicate_in_memory=False, batch_size=BATCH, workers=0), file, n, draws)


def replicate(*, file: str, n: int, draws: int) -> Callable[[], np.ndarray]:
    """Its defaults: batches of 32, each repeated T times in memory."""
    return _prepared(TrainingArgs(workers=0), file, n, draws)


def _prepared(options: TrainingArgs, file: str, n: int, draws: int) -> Callable[[], np.ndarray]:
    model = ModelWrapper(patch_module(gal_cnn()), options)
    pool = TensorDataset(rows(file, n), torch.zeros(n))
    return lambda: BALD().get_uncertainties(model.predict_on_dataset(pool, iterations=draws, verbose=False))


TASKS = {"loop": loop, "replicate": replicate}
