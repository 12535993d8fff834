from dataclasses import replace

import pytest
import torch
from tiny_comparison import TINY, job

import askwise as aw
from askwise.bayes.posteriors import POSTERIORS
from askwise.compare.material import material, network
from askwise.compare.trial import told_apart, trial
from askwise.errors import InputError
from askwise.seeding import derive


@pytest.fixture(scope="module")
def items():
    return material(TINY)


def test_odd_items_are_told_apart_as_often_as_the_model_is_less_certain_of_them() -> None:
    usual, odd = torch.tensor([0.1, 0.2, 5.0]), torch.tensor([0.15, 7.0])
    assert told_apart(usual, odd) == pytest.approx(4 / 6)
    assert told_apart(usual, usual + 10) == 1.0
    assert told_apart(odd, odd) == 0.5


def test_rounding_is_no_uncertainty() -> None:
    rng = torch.Generator().manual_seed(0)
    assert told_apart(torch.zeros(50), 1e-7 * torch.rand(50, generator=rng)) == 0.5


@pytest.mark.parametrize("name", POSTERIORS)
def test_every_posterior_is_measured_with_its_defaults(name: str, items) -> None:
    found = trial(TINY, job(name), items)
    assert all(0 <= found[key] <= 1 for key in ("accuracy", "ece", "auroc_total", "auroc_epistemic"))
    assert 0 <= found["brier"] <= 2
    assert found["nll"] > 0
    assert min(found["training_s"], found["prediction_s"]) > 0
    plain = sum(p.numel() for p in network(TINY, items).parameters())
    assert found["parameters"] >= plain
    assert (found["parameters"] == plain) == (name in ("point", "mc_dropout"))
    assert (found["auroc_epistemic"] == 0.5) == (name == "point")


def test_training_and_prediction_are_charged_what_passes_meanwhile(items, monkeypatch) -> None:
    clocks = iter([(1.0, 10.0), (3.0, 40.0), (7.0, 90.0), (8.0, 200.0)])  # CPU seconds, and by the clock
    monkeypatch.setattr("askwise.compare.trial._now", lambda: next(clocks))
    found = trial(TINY, job(), items)
    assert (found["training_cpu_s"], found["training_s"]) == (2.0, 30.0)
    assert (found["prediction_cpu_s"], found["prediction_s"]) == (1.0, 110.0)


def test_the_measures_are_those_of_the_model_that_was_trained(items) -> None:
    found = trial(TINY, job(seed=3), items)
    rng = torch.Generator().manual_seed(derive(3, "compare", "labels"))
    chosen = torch.randperm(len(items.train[0]), generator=rng)[:60]
    fitted = aw.fit(
        network(TINY, items),
        (items.train[0][chosen], items.train[1][chosen]),
        posterior=aw.point(),
        training=aw.Training(epochs=10),
        start="scratch",
        seed=derive(3, "compare", "fit"),
    )
    mean = aw.predict(fitted, items.test[0], draws=3).mean
    right = mean.argmax(1) == items.test[1]
    assert found["accuracy"] == pytest.approx(right.double().mean().item())
    assert found["nll"] == pytest.approx(
        -mean.gather(1, items.test[1][:, None]).log().mean().item(), rel=1e-4
    )
    assert found != trial(TINY, job(seed=4), items)


def test_a_trial_repeats_itself(items) -> None:
    first, second = (trial(TINY, job("bbb"), items) for _ in range(2))
    assert {k: v for k, v in first.items() if not k.endswith("_s")} == {
        k: v for k, v in second.items() if not k.endswith("_s")
    }


def test_more_labels_than_there_are_are_refused() -> None:
    with pytest.raises(InputError, match="digits has 1,201 labels to learn from, not 5,000"):
        material(replace(TINY, labels=5000))


def test_an_unknown_option_of_the_network_is_refused(items) -> None:
    with pytest.raises(InputError, match="unknown option of mlp 'dropot'; did you mean 'dropout'"):
        network(replace(TINY, network_options={"dropot": 0.5}), items)
