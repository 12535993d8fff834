"""A temperature chosen on labels held out: too sure becomes right, right stays, the labels guessed do too."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import TensorDataset

import askwise as aw
from askwise.bayes import calibrate as module
from askwise.bayes.fitted import Fitted
from askwise.bayes.program.ready import tempered
from askwise.errors import InputError
from askwise.math.temperature import HIGHEST
from askwise.tasks import classification, multilabel, regression, segmentation

POSTERIORS = {"point": aw.point(), "bbb": aw.bbb(last=1)}


def items(count: int, seed: int = 0) -> Tensor:
    return torch.randn(count, 5, generator=torch.Generator().manual_seed(seed))


def model(factor: float = 1.0, *, posterior: str = "point", link: str = "softmax") -> Fitted:
    """A dense layer of five inputs and four classes, `factor` times as sure as it should be."""
    network = nn.Sequential(nn.Linear(5, 4))
    with torch.no_grad():
        for tensor in network.parameters():
            tensor.copy_(factor * torch.randn(tensor.shape, generator=torch.Generator().manual_seed(1)))
    state = {"0.weight": torch.full((4, 5), math.log(math.expm1(0.4 * factor)))} if posterior == "bbb" else {}
    return Fitted(network.eval(), POSTERIORS[posterior], classification(link=link), state, ())


def truth(x: Tensor, seed: int = 0, **options: str) -> Tensor:
    """Labels drawn from what the model at factor 1 predicts."""
    probs = aw.predict(model(**options), x, draws=30).mean
    return torch.multinomial(probs, 1, generator=torch.Generator().manual_seed(seed)).squeeze(1)


def nll(fitted: Fitted, x: Tensor, y: Tensor, draws: int = 30) -> float:
    return -aw.predict(fitted, x, draws=draws).mean.gather(1, y[:, None]).log().mean().item()


@pytest.mark.parametrize("posterior", POSTERIORS)
@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_the_temperature_is_how_much_too_sure_the_model_is(factor: float, posterior: str) -> None:
    x = items(3000)
    y = truth(x, posterior=posterior)
    found = aw.calibrate(model(factor, posterior=posterior), (x, y), draws=30)
    assert found.temperature == pytest.approx(factor, rel=0.08)


def test_a_trained_model_that_is_too_sure_gets_better_on_fresh_data_and_guesses_the_same() -> None:
    x, fresh = items(400), items(2000, seed=5)
    y, true = truth(x), truth(fresh, seed=5)
    few = slice(0, 40)
    network = aw.nets.mlp(5, 4, hidden=(32,))
    training = aw.Training(epochs=300, lr=1e-2)
    fitted = aw.fit(network, (x[few], y[few]), posterior=aw.point(), training=training, start="scratch")
    found = aw.calibrate(fitted, (x[40:], y[40:]), draws=2)
    before, after = (aw.evaluate(m, (fresh, true), draws=2) for m in (fitted, found))
    assert found.temperature > 2
    assert after["nll"] < 0.7 * before["nll"]
    assert after["ece"] < 0.5 * before["ece"]
    assert after["accuracy"] == before["accuracy"]


@pytest.mark.parametrize("count", [1, 3, 30])
def test_the_labels_it_was_chosen_on_are_never_predicted_worse(count: int) -> None:
    for seed in range(5):
        x = items(count, seed=seed)
        y = torch.randint(0, 4, (count,), generator=torch.Generator().manual_seed(seed))
        fitted = model(2.0, posterior="bbb")
        found = aw.calibrate(fitted, (x, y), draws=7, seed=seed)
        before, after = (aw.predict(m, x, draws=7, seed=seed).mean for m in (fitted, found))
        own = [-p.gather(1, y[:, None]).double().log().sum().item() for p in (before, after)]
        assert own[1] <= own[0] + 1e-5


def test_it_is_the_lowest_point_of_nll_and_prior() -> None:
    x = items(60)
    y = truth(x, posterior="bbb")
    fitted = model(3.0, posterior="bbb")
    logs = aw.log_probs(fitted, x, draws=9).double()

    def total(temperature: float) -> float:
        mean = (logs / temperature).softmax(-1).mean(1).gather(1, y[:, None])
        return -mean.log().sum().item() + 2 * math.log(temperature) ** 2

    best = min((math.exp(k / 500) for k in range(-1490, 1491)), key=total)
    assert aw.calibrate(fitted, (x, y), draws=9).temperature == pytest.approx(best, rel=4e-3)


def test_a_small_set_without_a_mistake_does_not_ask_for_boundless_confidence() -> None:
    x = items(20)
    y = aw.predict(model(2.0), x, draws=2).mean.argmax(1)
    found = aw.calibrate(model(2.0), (x, y), draws=2).temperature
    assert 0.2 < found < 1
    wrong = (y + 1) % 4
    assert 1 < aw.calibrate(model(2.0), (x, wrong), draws=2).temperature <= HIGHEST


def test_an_earlier_temperature_does_not_matter() -> None:
    x = items(200)
    once = aw.calibrate(model(3.0), (x, truth(x)), draws=2)
    again = aw.calibrate(replace(once, temperature=9.0), (x, truth(x)), draws=2)
    assert again.temperature == once.temperature


def test_a_softmax_is_tempered_by_dividing_its_logits() -> None:
    x = items(10)
    logits = model(3.0).network(x).detach()
    hot = replace(model(3.0), temperature=2.5)
    torch.testing.assert_close(aw.log_probs(hot, x, draws=2)[:, 0], (logits / 2.5).log_softmax(-1))


def test_another_link_is_tempered_by_the_power_of_its_probabilities() -> None:
    x = items(300)
    plain = model(3.0, link="softplus")
    p = aw.log_probs(plain, x, draws=2).exp() ** (1 / 2.5)
    hot = replace(plain, temperature=2.5)
    torch.testing.assert_close(aw.log_probs(hot, x, draws=2).exp(), p / p.sum(-1, keepdim=True))
    assert aw.calibrate(hot, (x, truth(x, link="softplus")), draws=2).temperature != 2.5


def test_tags_have_a_temperature_and_unknown_ones_do_not_count() -> None:
    rng = torch.Generator().manual_seed(3)
    x = items(2000)
    fitted = replace(model(3.0), task=multilabel())
    y = (torch.rand(2000, 4, generator=rng) < model().network(x).sigmoid()).float()
    found = aw.calibrate(fitted, (x, y), draws=2)
    assert found.temperature == pytest.approx(3.0, rel=0.08)
    logits = fitted.network(x).detach() / found.temperature
    torch.testing.assert_close(aw.predict(found, x, draws=2).mean[..., 1], logits.sigmoid())
    known = torch.rand(2000, 4, generator=rng) < 0.5
    half = aw.calibrate(fitted, (x, y.where(known, torch.tensor(-1.0))), draws=2)
    assert half.temperature == pytest.approx(3.0, rel=0.12)


def test_pixels_have_a_temperature_and_ignored_ones_do_not_count() -> None:
    rng = torch.Generator().manual_seed(3)
    network = nn.Sequential(nn.Conv2d(2, 3, 1))
    with torch.no_grad():
        network[0].weight.copy_(3 * torch.randn(3, 2, 1, 1, generator=rng))
    fitted = Fitted(network.eval(), aw.point(), segmentation(ignore=255), {}, ())
    x = torch.randn(40, 2, 6, 8, generator=rng)
    probs = (network(x).detach() / 3).softmax(1).movedim(1, -1)
    y = torch.multinomial(probs.reshape(-1, 3), 1, generator=rng).view(40, 6, 8)
    found = aw.calibrate(fitted, (x, y), draws=2)
    assert found.temperature == pytest.approx(3.0, rel=0.1)
    y[:, :3] = 255
    assert aw.calibrate(fitted, (x, y), draws=2).temperature == pytest.approx(3.0, rel=0.15)
    y[:] = 255
    assert aw.calibrate(fitted, (x, y), draws=2).temperature == 1.0


def test_a_temperature_of_one_changes_no_bit() -> None:
    logs = aw.log_probs(model(3.0), items(10), draws=3)
    assert tempered(logs, 1.0) is logs


def test_scores_and_uncertainty_follow_the_temperature() -> None:
    x = items(50)
    cold, hot = model(3.0, posterior="bbb"), replace(model(3.0, posterior="bbb"), temperature=4.0)
    assert (aw.predict(hot, x, draws=20).total > aw.predict(cold, x, draws=20).total).all()
    stored = aw.score("bald", aw.log_probs(hot, x, draws=20))
    torch.testing.assert_close(aw.score_pool(hot, x, "bald", draws=20), stored, rtol=1e-4, atol=2e-6)
    assert not torch.allclose(stored, aw.score_pool(cold, x, "bald", draws=20), atol=1e-3)


def test_what_does_not_fit_in_memory_is_predicted_anew_with_an_equal_result(monkeypatch) -> None:
    x = items(300)
    y = truth(x, posterior="bbb")
    kept = aw.calibrate(model(3.0, posterior="bbb"), (x, y), draws=7).temperature
    monkeypatch.setattr(module, "_KEPT", 300 * 7 * 4 * 4 - 1)
    monkeypatch.setattr(module, "_ITEMS", 70)
    assert aw.calibrate(model(3.0, posterior="bbb"), (x, y), draws=7).temperature == pytest.approx(kept)


def test_a_dataset_of_pairs_is_taken_too() -> None:
    x = items(50)
    pairs, dataset = (x, truth(x)), TensorDataset(x, truth(x))
    assert aw.calibrate(model(3.0), dataset).temperature == aw.calibrate(model(3.0), pairs).temperature


def test_the_model_it_was_given_stays_as_it_was() -> None:
    fitted, x = model(3.0), items(50)
    digest = fitted.digest()
    found = aw.calibrate(fitted, (x, truth(x)))
    assert (fitted.temperature, fitted.digest()) == (1.0, digest)
    assert found.digest() != digest
    assert replace(found, temperature=1.0).digest() == digest  # stored digests of earlier models hold


def test_the_temperature_is_saved(tmp_path) -> None:
    fitted, x = replace(model(3.0), temperature=2.75), items(9)
    fitted.save(tmp_path / "model")
    again = aw.load(tmp_path / "model", network=model().network)
    assert (again.temperature, again.digest()) == (2.75, fitted.digest())
    assert torch.equal(aw.log_probs(again, x, draws=2), aw.log_probs(fitted, x, draws=2))


def test_numbers_have_no_temperature() -> None:
    numbers = replace(model(), task=regression(tau=1.0))
    with pytest.raises(InputError, match="calibrate needs a task with classes; 'regression' has none"):
        aw.calibrate(numbers, (items(4), torch.zeros(4, 4)))
    with pytest.raises(InputError, match="takes no temperature"):
        replace(numbers, temperature=2.0)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan, math.inf])
def test_a_temperature_is_a_finite_number_above_zero(temperature: float) -> None:
    with pytest.raises(InputError, match="temperature must be"):
        replace(model(), temperature=temperature)


BAD = {
    "a class that is not there": (torch.tensor([0, 4]), "label 4 at position 1"),
    "too few labels": (torch.tensor([0]), "differ in length"),
    "numbers as labels": (torch.tensor([0.5, 1.0]), "whole numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_labels_are_refused(case: str) -> None:
    labels, message = BAD[case]
    with pytest.raises(InputError, match=message):
        aw.calibrate(model(), (items(2), labels))
    with pytest.raises(InputError, match="draws must be"):
        aw.calibrate(model(), (items(2), torch.tensor([0, 1])), draws=0)
