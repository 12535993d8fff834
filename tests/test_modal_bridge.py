"""The estimators work inside modAL's loops.

modAL 0.4.2 calls `check_X_y(force_all_finite=...)`, a name that scikit-learn 1.8 dropped, so with a newer one
it fails by itself, whatever the estimator. Where that is so, this one argument gets its new name here; with
scikit-learn 1.7 the same tests run with modAL as it is.
"""

import inspect

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_X_y

from askwise.sklearn import BayesClassifier

pytest.importorskip("modAL", reason="modAL-python is not installed: the extra [test] brings it")
from modAL.models import ActiveLearner, Committee, learners
from modAL.uncertainty import entropy_sampling

SHORT = {"epochs": 20, "min_steps": 150, "lr": 1e-2}
DROPPED = "force_all_finite" not in inspect.signature(check_X_y).parameters


def renamed(x, y, *, force_all_finite, **options):
    """`check_X_y` under the name of its argument that modAL knows."""
    return check_X_y(x, y, ensure_all_finite=force_all_finite, **options)


@pytest.fixture
def mended(monkeypatch):
    if DROPPED:
        monkeypatch.setattr(learners, "check_X_y", renamed)


@pytest.fixture(scope="module")
def iris():
    x, y = load_iris(return_X_y=True)
    return x, np.array(["setosa", "versicolor", "virginica"])[y]


def asked_by_bald(classifier, pool, n_instances=1):
    """A strategy of modAL's form over askwise's scores."""
    return np.argsort(-classifier.estimator.score_pool(pool, "bald"))[:n_instances]


@pytest.mark.usefixtures("mended")
@pytest.mark.parametrize("strategy", [entropy_sampling, asked_by_bald])
def test_modal_asks_and_teaches_through_it(iris, strategy):
    x, y = iris
    ours = BayesClassifier(training=SHORT)
    learner = ActiveLearner(ours, strategy, X_training=x[::15], y_training=y[::15])
    rest = np.setdiff1d(np.arange(len(x)), np.arange(0, len(x), 15))
    for _ in range(3):
        picked, _ = learner.query(x[rest], n_instances=4)
        learner.teach(x[rest[picked]], y[rest[picked]])
        rest = np.delete(rest, picked)
    assert len(learner.y_training) == 10 + 12
    assert learner.score(x, y) > 0.9


@pytest.mark.usefixtures("mended")
def test_a_committee_of_modal_votes_with_it():
    x, y = load_iris(return_X_y=True)  # a committee wants numbers for classes
    members = [BayesClassifier(training=SHORT, random_state=seed) for seed in (0, 1)]
    committee = Committee([ActiveLearner(one, X_training=x[::5], y_training=y[::5]) for one in members])
    picked, _ = committee.query(x, n_instances=3)
    committee.teach(x[picked], y[picked])
    assert committee.score(x, y) > 0.9


@pytest.mark.skipif(not DROPPED, reason="this scikit-learn still knows the argument")
def test_without_the_new_name_modal_fails_with_any_estimator(iris):
    x, y = iris
    learner = ActiveLearner(LogisticRegression(max_iter=500), X_training=x[::15], y_training=y[::15])
    with pytest.raises(TypeError, match="force_all_finite"):
        learner.teach(x[:2], y[:2])
