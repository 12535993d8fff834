"""scikit-activeml's BatchBALD: the function that its query strategy calls."""

from collections.abc import Callable

import numpy as np
from skactiveml.pool import batch_bald

from peers.common import rows


def batchbald(*, file: str, n: int, picks: int, samples: int | None) -> Callable[[], dict]:
    """On probabilities [draw, item, class]; without `samples` it takes as many as there are draws."""
    probabilities = rows(file, n).exp().double().numpy().swapaxes(0, 1)

    def run() -> dict:
        gains = batch_bald(probabilities.copy(), picks, n_MC_samples=samples, random_state=0)
        chosen = np.nanargmax(gains, axis=1)
        own = sum(range(picks))  # it marks what is already picked by NaN
        return {"picks": chosen.tolist(), "nan": int(np.isnan(gains).sum()) - own}

    return run


TASKS = {"batchbald": batchbald}
