"""Askwise itself, by its public names."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import torch
from torch import Tensor, nn

import askwise as aw
from peers.common import bald, early_dropout, encoder, rows
from peers.generated import Generated

_POSTERIORS = {
    "mc_dropout": aw.mc_dropout(),
    "bnn1": aw.bbb(last=1),
    "all_bayesian": aw.bbb(all=True),
    "early_dropout": aw.mc_dropout(),
    "encoder": aw.mc_dropout(),
}
_NETWORKS = {"early_dropout": early_dropout, "encoder": encoder}
_STAND_STILL = aw.Training(epochs=1, min_steps=1, lr=1e-12)  # leaves the weights everybody begins with
_WIDTH, _HUGE_WIDTH = 512, 16


@lru_cache
def _fitted(posterior: str, file: str) -> aw.Fitted:
    few = rows(file, 64), torch.arange(64) % 10
    torch.manual_seed(0)
    network = _NETWORKS.get(posterior, aw.nets.gal_cnn)()
    return aw.fit(network, few, posterior=_POSTERIORS[posterior], training=_STAND_STILL)


def score(*, posterior: str, file: str, n: int, draws: int, new_model: bool = False) -> Callable[[], Tensor]:
    """BALD of a pool; a new model of a known network has no program yet, as after every training."""
    fitted, x = _fitted(posterior, file), rows(file, n)
    if new_model:
        return lambda: aw.score_pool(replace(fitted, programs={}), x, "bald", draws=draws)
    return lambda: aw.score_pool(fitted, x, "bald", draws=draws)


def train(*, file: str, n: int, epochs: int, batch: int) -> Callable[[], dict]:
    """Fit Gal's CNN with its dropout."""
    data = rows(file, n), torch.arange(n) % 10
    network = aw.nets.gal_cnn()

    def run() -> dict:
        training = aw.Training(epochs=epochs, min_steps=1, batch_size=batch)
        fitted = aw.fit(network, data, posterior=aw.mc_dropout(), training=training)
        return {"loss": fitted.history[-1]["loss"]}

    return run


def train_small(*, n: int, epochs: int, batch: int) -> Callable[[], dict]:
    """Fit a small dense network on vectors."""
    data = torch.rand(n, 64, generator=torch.Generator().manual_seed(0)), torch.arange(n) % 10
    network, training = (
        aw.nets.mlp(64, 10, hidden=(64,)),
        aw.Training(epochs=epochs, min_steps=1, batch_size=batch),
    )
    return lambda: {
        "loss": aw.fit(network, data, posterior=aw.point(), training=training).history[-1]["loss"]
    }


def batchbald(*, file: str, n: int, picks: int) -> Callable[[], dict]:
    """The joint choice, with its defaults."""
    warnings.simplefilter("ignore")  # one says that the score saturates, which is a case of its own here
    log_probs = rows(file, n)
    return lambda: {"picks": aw.select("batchbald", log_probs=log_probs, count=picks).tolist()}


def live_round(*, n: int, labels: int, classes: int, draws: int, picks: int, draw: str) -> Callable[[], dict]:
    """Learn the last layer on cached features, score all of them, choose."""
    rng = torch.Generator().manual_seed(0)
    pool = torch.randn(n, _WIDTH, generator=rng)
    teacher = torch.randn(_WIDTH, classes, generator=rng)
    data = pool[:labels], (pool[:labels] @ teacher).argmax(1)
    head = nn.Sequential(nn.Linear(_WIDTH, classes))

    def run() -> dict:
        training = aw.Training(epochs=50, min_steps=1, lr=1e-3)
        fitted = aw.fit(head, data, posterior=aw.bbb(last=1), training=training)
        scores = aw.score_pool(fitted, pool, "bald", draws=draws, draw=draw)
        return {"picks": aw.select("top_k", scores=scores, count=picks).tolist()}

    return run


def huge(*, n: int, draws: int, picks: int) -> Callable[[], dict]:
    """The best of a generated pool that would not fit."""
    fitted, pool = _head(), Generated(n, _HUGE_WIDTH)

    def run() -> dict:
        scores = aw.score_pool(fitted, pool, "bald", draws=draws)
        best = aw.select("top_k", scores=scores, count=picks)
        return {"picks": best.tolist(), "scores": scores[best].tolist()}

    return run


def brute_force(*, n: int, draws: int, picks: int) -> Callable[[], dict]:
    """The same by T plain products in float64 and a full sort; also the best score left out."""
    fitted, pool = _head(), Generated(n, _HUGE_WIDTH)

    def run() -> dict:
        drawn = fitted.posterior.draw(fitted.network, fitted.state, numbers=range(draws), seed=0, dropouts=())
        weight, bias = drawn["0.weight"].double(), fitted.network[0].bias.detach().double()
        found = []
        for start in range(0, n, 50_000):
            part = pool[start : start + 50_000].double()
            found.append(bald((torch.einsum("nd,tcd->ntc", part, weight) + bias).log_softmax(-1)))
        scores = torch.cat(found)
        order = scores.sort(descending=True).indices[: picks + 1]
        return {"picks": order[:picks].tolist(), "scores": scores[order].tolist()}

    return run


@lru_cache
def _head() -> aw.Fitted:
    torch.manual_seed(0)
    few = torch.randn(64, _HUGE_WIDTH), torch.arange(64) % 10
    network = nn.Sequential(nn.Linear(_HUGE_WIDTH, 10))
    return aw.fit(network, few, posterior=aw.bbb(last=1), training=aw.Training(epochs=5, min_steps=1))


TASKS = {
    "score": score,
    "train": train,
    "train_small": train_small,
    "batchbald": batchbald,
    "live_round": live_round,
    "huge": huge,
    "brute_force": brute_force,
}
