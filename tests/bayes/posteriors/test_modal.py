"""The mode is shown, the draws say how uncertain it is, and the labels choose prior and power."""

import pytest
import torch
from sklearn.linear_model import LogisticRegression

import askwise as aw
from askwise.errors import InputError
from askwise.nets.axes import axes_of
from askwise.pool import fit_axes


def blobs(count, *, apart=2.0, wide=6, seed=0):
    """Three classes that differ along the first two of `wide` features."""
    rng = torch.Generator().manual_seed(seed)
    y = torch.arange(count) % 3
    corners = torch.nn.functional.one_hot(y, 3)[:, :2].float() * apart
    return torch.randn(count, wide, generator=rng) + torch.nn.functional.pad(corners, (0, wide - 2)), y


def linear(wide=6):
    return aw.nets.linear(wide, 3)


def test_what_is_shown_measured_and_calibrated_is_the_mode():
    (x, y), (new, truth) = blobs(60), blobs(90, seed=1)
    fitted = aw.fit(linear(), (x, y), posterior="modal")
    with torch.no_grad():
        mode = fitted.network(new).softmax(dim=1)
    found = aw.predict(fitted, new, draws=30)
    torch.testing.assert_close(found.mean, mode)
    drawn = aw.log_probs(fitted, new, draws=30).exp().mean(dim=1)
    assert not torch.allclose(drawn, mode, atol=1e-3)  # the control: the draws' mean is another
    nll = -mode[torch.arange(90), truth].log().mean()
    assert aw.evaluate(fitted, (new, truth), draws=30)["nll"] == pytest.approx(float(nll), abs=1e-5)
    warm = aw.calibrate(fitted, (new, truth))
    tempered = mode.pow(1 / warm.temperature)
    torch.testing.assert_close(aw.predict(warm, new).mean, tempered / tempered.sum(1, keepdim=True))


def test_uncertainty_and_bald_are_of_the_draws_and_margin_is_of_the_mode():
    x, y = blobs(30)
    fitted = aw.fit(linear(), (x, y), posterior="modal")
    logs = aw.log_probs(fitted, x, draws=40, seed=2)
    torch.testing.assert_close(aw.predict(fitted, x, draws=40, seed=2).epistemic, aw.score("bald", logs))
    torch.testing.assert_close(aw.score_pool(fitted, x, "bald", draws=40, seed=2), aw.score("bald", logs))
    with torch.no_grad():
        mode = fitted.network(x).log_softmax(dim=1)[:, None]
    torch.testing.assert_close(aw.score_pool(fitted, x, "margin", draws=40, seed=2), aw.score("margin", mode))
    assert not torch.allclose(aw.score("margin", logs), aw.score("margin", mode), atol=1e-3)


def test_the_mode_is_the_logistic_regression_of_its_prior():
    x, y = blobs(60)
    fitted = aw.fit(linear(), (x, y), posterior=aw.modal(prior_precision=0.5))
    design = torch.cat([x, torch.ones(60, 1)], dim=1)  # the bias has the same prior
    exact = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-8, max_iter=1000).fit(design, y)
    own = torch.cat([fitted.network.dense1.weight, fitted.network.dense1.bias[:, None]], dim=1).detach()
    torch.testing.assert_close(own, torch.as_tensor(exact.coef_).float(), rtol=0, atol=2e-3)


def test_few_labels_without_a_mistake_do_not_ask_for_a_boundless_mode():
    x, y = blobs(6, apart=8.0)
    fitted = aw.fit(linear(), (x, y), posterior="modal")
    assert fitted.state["dense1.prior_precision"] > 1e-3
    assert aw.predict(fitted, x).mean.amax(dim=1).max() < 0.9999


@pytest.mark.parametrize(("loud", "power"), [(True, 0.5), (False, 0.0)])
def test_the_labels_choose_the_power_of_the_axes(loud, power):
    """Where the pool varies most is what the classes differ by (loud), or what they do not differ by."""
    x, y = blobs(400, apart=3.0, wide=40)
    x = x * torch.cat([torch.full((2,), 6.0 if loud else 0.3), torch.ones(38)])
    network = aw.nets.on_axes(40, 3)
    axes = fit_axes(x)
    axes_of(network).place(axes.centre, axes.directions, axes.variance)
    fitted = aw.fit(network, (x[:60], y[:60]), posterior="modal")
    assert axes_of(fitted.network).power.item() == power
    assert aw.fit(network, (x[:60], y[:60]), posterior=aw.modal(power=0.25)).network.axes.power == 0.25


def test_a_network_on_axes_is_saved_with_them_and_predicts_the_same(tmp_path):
    x, y = blobs(60, wide=9)
    network = aw.nets.on_axes(9, 3, axes=4)
    axes = fit_axes(x, count=4)
    axes_of(network).place(axes.centre, axes.directions, axes.variance)
    fitted = aw.fit(network, (x, y), posterior="modal")
    torch.testing.assert_close(
        aw.features(fitted, x), axes(x, power=axes_of(fitted.network).power.item()), rtol=1e-4, atol=1e-5
    )
    fitted.save(tmp_path / "model")
    again = aw.load(tmp_path / "model")
    assert torch.equal(aw.predict(again, x).mean, aw.predict(fitted, x).mean)
    assert torch.equal(aw.log_probs(again, x, draws=3), aw.log_probs(fitted, x, draws=3))


def test_layers_that_learn_before_the_last_are_trained_first():
    x, y = blobs(60)
    network = aw.nets.mlp(6, 3, hidden=(8,))
    fitted = aw.fit(network, (x, y), posterior="modal", training=aw.Training(epochs=2))
    assert fitted.history
    assert not torch.equal(fitted.network.dense1.weight, network.dense1.weight)
    assert not aw.fit(linear(), (x, y), posterior="modal").history  # the control: nothing to train


def test_axes_that_do_not_fit_and_powers_outside_are_refused():
    with pytest.raises(InputError, match="do not fit"):
        axes_of(aw.nets.on_axes(9, 3, axes=4)).place(torch.zeros(9), torch.eye(9, 5), torch.ones(5))
    with pytest.raises(InputError, match="power is a number from 0 to 1"):
        aw.modal(power=2.0)


@pytest.mark.parametrize("posterior", ["modal", "laplace"])
def test_a_small_fit_uses_one_thread_from_beginning_to_end(posterior, monkeypatch):
    seen = set()
    fit = type(aw.fit(linear(), blobs(12), posterior=posterior).posterior).fit

    def watched(self, network, job):
        seen.add(torch.get_num_threads())
        return fit(self, network, job)

    monkeypatch.setattr(f"askwise.bayes.posteriors.{posterior}.Config.fit", watched)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        aw.fit(linear(), blobs(12), posterior=posterior)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == {1}
