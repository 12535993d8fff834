"""Members are whole trainings of their own, and a draw is a member."""

import pytest
import torch
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import ensemble
from askwise.bayes.program.trace import tensors_of
from askwise.errors import InputError
from askwise.train import Training

QUICK = Training(epochs=3, batch_size=16)


def data(count: int = 40) -> tuple[Tensor, Tensor]:
    return torch.randn(count, 6, generator=torch.Generator().manual_seed(0)), torch.arange(count) % 3


def network() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3))


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    return aw.fit(network(), data(), posterior=aw.ensemble(3), training=QUICK, start="scratch", seed=4)


def member(fitted: Fitted, number: int) -> nn.Module:
    """A network with one member's tensors put into it."""
    own = network().eval()
    own.load_state_dict(fitted.network.state_dict())
    for name, stack in fitted.state.items():
        tensors_of(own)[name].copy_(stack[number])
    return own


def test_members_predict_as_they_would_alone(fitted: Fitted) -> None:
    x, _ = data(20)
    with torch.no_grad():
        alone = torch.stack([member(fitted, k)(x).log_softmax(-1) for k in range(3)], dim=1)
    torch.testing.assert_close(aw.log_probs(fitted, x), alone, rtol=1e-5, atol=1e-5)
    assert not torch.allclose(alone[:, 0], alone[:, 1])


def test_there_are_no_more_draws_than_members(fitted: Fitted) -> None:
    x, _ = data(20)
    assert aw.log_probs(fitted, x, draws=100).shape == (20, 3, 3)
    assert aw.log_probs(fitted, x, draws=2).shape == (20, 2, 3)
    assert torch.equal(aw.predict(fitted, x, draws=100).mean, aw.predict(fitted, x, draws=3, seed=9).mean)
    scores = aw.score_pool(fitted, x, "epig", targets=x[:5])
    assert scores.shape == (20,)


def test_the_first_member_is_what_point_learns(fitted: Fitted) -> None:
    point = aw.fit(network(), data(), posterior=aw.point(), training=QUICK, start="scratch", seed=4)
    for name, tensor in tensors_of(point.network).items():
        assert torch.equal(tensor, tensors_of(fitted.network)[name])
    one = aw.fit(network(), data(), posterior=aw.ensemble(1), training=QUICK, start="scratch", seed=4)
    assert one.history == point.history
    assert torch.equal(one.state["4.weight"][0], point.network[4].weight)


def test_members_have_statistics_of_their_own_and_share_what_is_not_a_number_to_learn(fitted: Fitted) -> None:
    assert fitted.state["1.running_mean"].shape == (3, 8)
    assert not torch.equal(fitted.state["1.running_mean"][0], fitted.state["1.running_mean"][1])
    assert "1.num_batches_tracked" not in fitted.state


def test_frozen_weights_are_in_no_draw() -> None:
    own = network()
    own[0].requires_grad_(False)
    found = aw.fit(own, data(), posterior=aw.ensemble(2), training=QUICK)
    assert set(found.state) == {
        "1.weight", "1.bias", "1.running_mean", "1.running_var", "4.weight", "4.bias"
    }  # fmt: skip
    assert torch.equal(found.network[0].weight, own[0].weight)


@pytest.mark.parametrize(("start", "shared"), [("given", True), ("scratch", False)])
def test_members_begin_apart(start: str, shared: bool) -> None:
    still = Training(epochs=1, lr=1e-12)
    found = aw.fit(network(), data(), posterior=aw.ensemble(2), training=still, start=start).state
    assert not torch.allclose(found["4.weight"][0], found["4.weight"][1])  # the last layer, always
    assert torch.allclose(found["0.weight"][0], found["0.weight"][1]) == shared


def test_a_warm_start_goes_on_from_every_member_and_takes_in_more(fitted: Fitted) -> None:
    still = Training(epochs=1, lr=1e-12)
    more = aw.fit(network(), data(), posterior=aw.ensemble(4), training=still, start=fitted)
    for name, stack in more.state.items():
        if "running" not in name:
            torch.testing.assert_close(stack, fitted.state[name][[0, 1, 2, 0]])


def test_the_history_is_the_mean_over_members(fitted: Fitted) -> None:
    lists = ({"loss": 1.0, "nll": 0.5},), ({"loss": 3.0, "nll": 1.5},)
    assert ensemble._mean(lists) == ({"loss": 2.0, "nll": 1.0},)
    assert len(fitted.history) == QUICK.epochs


def test_an_ensemble_of_convolutions_predicts() -> None:
    x = torch.randn(12, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    found = aw.fit(
        aw.nets.digits_cnn(classes=3), (x, torch.arange(12) % 3), posterior=aw.ensemble(2), training=QUICK
    )
    assert aw.log_probs(found, x).shape == (12, 2, 3)


def test_bad_options_are_refused() -> None:
    assert aw.ensemble(7).members == 7
    with pytest.raises(InputError, match="members must be a whole number of at least 1, not 0"):
        aw.ensemble(0)
