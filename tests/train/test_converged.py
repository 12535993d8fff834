"""A training ends when its loss hardly falls any more: never too early, never unless asked."""

import math

import pytest
import torch
from torch import nn

import askwise as aw
from askwise.errors import InputError
from askwise.train import as_training
from askwise.train.ending import WINDOW, Ending, converged, last_epoch

FALL = [math.exp(-epoch / 10) for epoch in range(200)]


def first(losses: list[float], fraction: float) -> int | None:
    """After how many epochs the rule first holds."""
    return next((n for n in range(len(losses) + 1) if converged(losses[:n], fraction)), None)


def test_the_rule_has_known_values():
    assert WINDOW == 10
    step = [1.0] * 10 + [0.5] * 10  # the window of .5 improved by half, which is all of the fall
    assert not converged(step, 0.99)
    assert converged(step, 1.0)
    assert converged([1.0, *[0.5] * 20], 0.0)
    assert not converged([1.0, *[0.5] * 10, *[0.49] * 10], 0.019)  # .01 of .51
    assert converged([1.0, *[0.5] * 10, *[0.49] * 10], 0.02)


def test_an_exponential_fall_ends_when_it_should():
    # windows e^-a apart: mean(before) - mean(now) = (e - 1) mean(now), compared with f (1 - mean(now))
    mean = (1 - math.exp(-1)) / (1 - math.exp(-0.1)) / 10
    for fraction in (0.1, 0.01, 0.001):
        last = fraction / (math.e - 1 + fraction)
        expected = math.ceil(10 - 10 * math.log(last / mean) - 1e-9)
        assert first(FALL, fraction) == expected
    assert first(FALL, 0.1) < first(FALL, 0.01) < first(FALL, 0.001)


def test_it_does_not_depend_on_the_scale_or_the_height_of_the_loss():
    for height, scale in ((0.0, 7.0), (-5.0, 1.0), (-1.0, 0.001)):
        assert first([height + scale * loss for loss in FALL], 0.01) == first(FALL, 0.01)


def test_two_windows_are_the_least_even_if_nothing_is_learned():
    assert first([1.0] * 100, 0.0) == 2 * WINDOW
    assert first([float(epoch) for epoch in range(100)], 0.5) == 2 * WINDOW


def test_a_steady_fall_goes_on():
    assert first([1.0 - 0.001 * epoch for epoch in range(200)], 0.01) is None


def test_noise_delays_or_hastens_it_by_little():
    noise = 0.02 * torch.randn(50, 200, generator=torch.Generator().manual_seed(0))
    ends = [first([a + b for a, b in zip(FALL, row.tolist(), strict=True)], 0.01) for row in noise]
    assert all(30 <= end <= 80 for end in ends)  # without noise after 62; by 30 the loss has fallen by 95 %


def test_every_watched_term_must_have_converged():
    flat, falling = [1.0] * 30, [1.0 - 0.03 * epoch for epoch in range(30)]
    for loss, nll, last in ((flat, flat, 30), (flat, falling, 99), (falling, flat, 99)):
        history = [{"loss": a, "nll": b, "kl": c} for a, b, c in zip(loss, nll, falling, strict=True)]
        assert last_epoch(history, 99, 0.01, Ending()) == last


def test_an_ending_waits_for_the_warm_up_and_leaves_room_for_the_tail():
    history = [{"loss": 1.0}] * 25
    assert last_epoch(history, 99, 0.01, Ending(after=5)) == 25
    assert last_epoch(history, 99, 0.01, Ending(after=6)) == 99
    assert last_epoch(history, 99, 0.01, Ending(tail=40)) == 65
    assert last_epoch(history, 99, 0.01, Ending(tail=74)) == 99
    assert last_epoch(history, 99, None, Ending()) == 99


def blobs(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % 3
    return 4 * torch.eye(3)[labels] + torch.randn(count, 3, generator=rng), labels


def fitted(posterior, *, converged: float | None, epochs: int = 60, **options) -> aw.Fitted:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
    how = aw.Training(epochs=epochs, batch_size=30, lr=0.02, converged=converged)
    return aw.fit(network, blobs(60, 0), posterior=posterior, training=how, **options)


def accuracy(model: aw.Fitted) -> float:
    x, y = blobs(300, 1)
    return float((aw.predict(model, x, draws=10).mean.argmax(dim=1) == y).float().mean())


POSTERIORS = {
    "point": aw.point(),
    "mc_dropout": aw.mc_dropout(),
    "bbb": aw.bbb(last=1, kl_weight=0.1),
    "bbb-linear": aw.bbb(last=1, kl_weight=0.1, warm_up="linear"),
    "vogn": aw.vogn(last=1),
    "ivon": aw.ivon(last=1),
    "laplace": aw.laplace(),
    "ensemble": aw.ensemble(2),
    "swag": aw.swag(part=0.2),
    "vbll": aw.vbll(),
}


@pytest.mark.parametrize("name", POSTERIORS)
def test_every_posterior_ends_early_on_an_easy_problem_and_is_as_good(name):
    # after a warm-up little of the fall is left, and there are ten epochs to compare
    early = fitted(POSTERIORS[name], converged=0.9 if name in ("bbb-linear", "vogn") else 0.05)
    assert 20 <= len(early.history) < 60
    assert accuracy(early) >= accuracy(fitted(POSTERIORS[name], converged=None)) - 0.02


@pytest.mark.parametrize("name", POSTERIORS)
def test_where_it_does_not_end_early_nothing_changes(name):
    off = fitted(POSTERIORS[name], converged=None, epochs=12)
    on = fitted(POSTERIORS[name], converged=0.5, epochs=12)  # fewer epochs than can be compared
    assert on.digest() == off.digest()
    assert on.history == off.history


def test_an_early_end_is_the_beginning_of_the_whole_training():
    early, whole = (fitted(aw.point(), converged=fraction) for fraction in (0.05, None))
    assert whole.history[: len(early.history)] == early.history
    again = fitted(aw.point(), converged=0.05)
    assert again.digest() == early.digest()
    same = fitted(aw.point(), converged=None, epochs=len(early.history))
    assert same.digest() == early.digest()


def test_no_warm_up_is_cut_short():
    assert len(fitted(aw.bbb(last=1, warm_up="linear"), converged=0.9).history) >= 30 + 20
    assert len(fitted(aw.vogn(last=1, warm_up=0.5), converged=0.9).history) >= 30 + 20
    assert len(fitted(aw.bbb(last=1, warm_up="constant"), converged=0.9).history) < 30


def test_swag_collects_as_much_from_a_shorter_training():
    early, whole = (fitted(aw.swag(part=0.25, iterates=15), converged=fraction) for fraction in (0.9, None))
    # 15 iterates over the last 30 of 120 steps, two apart and two an epoch
    assert len(early.history) == 20 + 15
    assert early.state["collected"] == whole.state["collected"] == 15
    spread = next(value for name, value in early.state.items() if name.endswith("variance"))
    assert spread.max() > 0


def test_members_of_an_ensemble_may_end_at_different_epochs():
    model = fitted(aw.ensemble(4), converged=0.05)
    assert len(model.history) >= len(fitted(aw.point(), converged=0.05).history)
    assert all(math.isfinite(epoch["loss"]) for epoch in model.history)


def test_a_plan_can_say_it():
    how = as_training({"epochs": 40, "converged": 0.01})
    assert how.converged == 0.01
    assert as_training(how.options()) == how


@pytest.mark.parametrize("wrong", [-0.1, 1.0, 1.5, float("nan"), float("inf")])
def test_what_is_no_fraction_is_refused(wrong):
    with pytest.raises(InputError, match="converged"):
        aw.Training(converged=wrong)
