"""The estimators keep scikit-learn's promises, and work inside scikit-activeml's loops."""

import numpy as np
import pytest
import torch
from skactiveml.classifier import SklearnClassifier
from skactiveml.pool import UncertaintySampling
from sklearn.datasets import load_iris, make_regression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

import askwise as aw
from askwise.sklearn import BayesClassifier, BayesRegressor

SHORT = {"epochs": 20, "min_steps": 150, "lr": 1e-2}
SHORTER = {"epochs": 5, "min_steps": 80, "lr": 2e-2}


@parametrize_with_checks(
    [BayesClassifier(training=SHORTER, draws=10), BayesRegressor(training=SHORTER, draws=10)]
)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    x, y = load_iris(return_X_y=True)
    return x, np.array(["setosa", "versicolor", "virginica"])[y]


def test_probabilities_classes_and_uncertainty_belong_together(iris):
    x, y = iris
    ours = BayesClassifier(training=SHORT).fit(x, y)
    chances = ours.predict_proba(x)
    assert (ours.classes_[chances.argmax(1)] == ours.predict(x)).all()
    assert ours.score(x, y) > 0.9
    found = ours.uncertainty(x)
    torch.testing.assert_close(found.total, found.epistemic + found.aleatoric, rtol=1e-4, atol=1e-5)
    scores = ours.score_pool(x, "bald")
    np.testing.assert_allclose(scores, found.epistemic.numpy(), atol=1e-5)  # BALD is the epistemic part
    assert scores.std() > 0


def test_it_works_in_a_pipeline_under_cross_validation(iris):
    x, y = iris
    found = cross_val_score(make_pipeline(PolynomialFeatures(2), BayesClassifier(training=SHORT)), x, y, cv=3)
    assert found.mean() > 0.85


@pytest.mark.parametrize("posterior", [aw.bbb(last=1), "mc_dropout"])
def test_any_network_and_posterior_may_be_chosen(iris, posterior):
    def network(features: int, outputs: int) -> nn.Module:
        return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, outputs))

    x, y = iris
    ours = BayesClassifier(network, posterior=posterior, training=SHORT).fit(x, y)
    assert ours.score(x, y) > 0.85
    assert ours.fitted_.classes == ("setosa", "versicolor", "virginica")


def test_deviations_of_numbers_cover_what_is_left_out():
    x, y = make_regression(300, 3, noise=20.0, random_state=0)
    ours = BayesRegressor(training={**SHORT, "min_steps": 600}).fit(x[:200], y[:200])
    mean, std = ours.predict(x[200:], return_std=True)
    assert mean.shape == std.shape == (100,)
    inside = (abs(mean - y[200:]) < 2 * std).mean()
    assert inside > 0.8
    assert (abs(mean - y[200:]) < 0.02 * std).mean() < 0.5  # a control: no width would do


def test_the_random_state_decides_everything(iris):
    x, y = iris
    one, two, other = (
        BayesClassifier(training=SHORT, random_state=seed).fit(x, y).predict_proba(x) for seed in (1, 1, 2)
    )
    assert (one == two).all()
    assert (one != other).any()


def test_scikit_activeml_asks_through_it(iris):
    x, names = iris
    y = np.unique(names, return_inverse=True)[1].astype(float)
    known = np.full(len(y), np.nan)
    known[::10] = y[::10]
    ours = SklearnClassifier(BayesClassifier(training=SHORT), classes=[0, 1, 2])
    strategy = UncertaintySampling(method="entropy", random_state=0)
    picked = strategy.query(X=x, y=known, clf=ours, batch_size=5)
    assert np.isnan(known[picked]).all()  # it asks about what has no label
    known[picked] = y[picked]
    assert (ours.fit(x, known).predict(x) == y).mean() > 0.85
