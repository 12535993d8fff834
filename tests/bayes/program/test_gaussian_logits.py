"""The closed form of a Gaussian last layer has the distribution that drawn weights have."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.program.gaussian_logits import noise
from askwise.bayes.program.ready import Ready
from askwise.errors import InputError
from askwise.math.links import log_softmax
from askwise.train import Training

X, Y = torch.randn(300, 6), torch.arange(300) % 3


def fitted(posterior=None, **options) -> aw.Fitted:
    network = aw.nets.mlp(6, 3, hidden=(16,))
    wide = aw.bbb(
        last=1, rho_mean=0.0, shared_rate=True, kl_weight=1.0, prior_std=1.0, **options
    )  # the deviations stay near their start
    return aw.fit(network, (X, Y), posterior=posterior or wide, training=Training(epochs=30), seed=1)


def logits(model: aw.Fitted, draw: str, draws: int) -> Tensor:
    """Log-probabilities [N, T, C] under either kind of draw."""
    ready = Ready(model, X[:1], draws=draws, seed=0, draw=draw)
    return torch.cat([block.found[: block.count] for block in ready.blocks(X)])


@pytest.mark.parametrize("options", [{}, {"bias": True}], ids=["weights", "weights and bias"])
def test_it_equals_a_plain_loop_over_the_same_noise(options: dict[str, bool]) -> None:
    model = fitted(**options)
    layer = model.network.dense2
    means = dict(model.network.named_parameters())
    std = model.posterior.stds(means, model.state)
    with torch.no_grad():
        phi = model.network[:-1](X)
        spread = phi.square() @ std["dense2.weight"].square().T
        if "dense2.bias" in std:
            spread = spread + std["dense2.bias"].square()
        loop = [log_softmax(layer(phi) + spread.sqrt() * one) for one in noise(20, 3, seed=0)]
    torch.testing.assert_close(logits(model, "logits", 20), torch.stack(loop, dim=1), rtol=0, atol=1e-5)


def test_an_item_has_the_distribution_it_has_under_drawn_weights() -> None:
    model = fitted()
    closed, drawn = logits(model, "logits", 4000), logits(model, "weights", 4000)
    torch.testing.assert_close(closed.mean(1), drawn.mean(1), rtol=0, atol=0.06)
    torch.testing.assert_close(closed.std(1), drawn.std(1), rtol=0.08, atol=0.02)
    narrow = replace(model, state={name: rho - 1 for name, rho in model.state.items()}, programs={})
    with pytest.raises(AssertionError):  # control: Gaussians of a third of the width are told apart
        torch.testing.assert_close(logits(narrow, "logits", 4000).std(1), drawn.std(1), rtol=0.08, atol=0.02)
    scores = [aw.score_pool(model, X, "bald", draws=4000, draw=kind) for kind in ("weights", "logits")]
    torch.testing.assert_close(*scores, rtol=0, atol=0.02)
    assert scores[0].max() > 0.05  # there is something to agree on


@pytest.mark.parametrize(
    "posterior",
    [
        aw.mc_dropout(),
        aw.laplace(),
        aw.bbb(all=True),
        aw.ensemble(2),
        aw.point(),
        aw.bbb(last=1, dropout=True),
    ],
    ids=lambda config: config.name,
)
def test_where_the_last_layer_alone_is_not_gaussian_it_is_refused(posterior) -> None:
    network = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
    model = aw.fit(network, (X, Y), posterior=posterior, training=aw.Training(epochs=1))
    with pytest.raises(InputError, match="logits are drawn where the last layer alone is Gaussian"):
        aw.score_pool(model, X, "bald", draws=5, draw="logits")


def test_what_looks_at_two_items_draws_weights() -> None:
    with pytest.raises(InputError, match="looks at two items at a time; draw weights"):
        aw.score_pool(fitted(), X, "epig", targets=X[:5], draw="logits")
    with pytest.raises(InputError, match="unknown kind of draw 'logit'; did you mean 'logits'"):
        aw.score_pool(fitted(), X, "bald", draw="logit")


def test_a_plan_can_draw_logits() -> None:
    known = dict(zip(aw.pool.arrays(X).ids, Y.tolist()[:9], strict=False))
    how = {"training": {"epochs": 2}, "draws": 20}
    scores = {}
    for kind in ("weights", "logits"):
        network = aw.nets.mlp(6, 3, hidden=(8,))
        learner = aw.Learner(network, pool=X, classes=3, initial=known, draw=kind, **how)
        scores[kind] = [question.score for question in learner.ask()]
    assert len(scores["logits"]) == 10
    assert scores["logits"] != scores["weights"]
