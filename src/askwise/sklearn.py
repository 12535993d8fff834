"""Networks with uncertainty as estimators of scikit-learn."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_random_state, column_or_1d, validate_data
from torch import Tensor, nn

from askwise.bayes.fit import fit
from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import predict, score_pool
from askwise.math.uncertainty import Uncertainty
from askwise.nets.mlp import mlp
from askwise.tasks import Prediction, Task
from askwise.train import as_training

Array = NDArray[Any]


class _Bayes(BaseEstimator):  # type: ignore[misc]
    """What both have in common: features are brought to mean 0 and deviation 1, then a network learns."""

    def __init__(
        self,
        network: Any = None,
        *,
        posterior: Any = "laplace",
        training: Any = None,
        draws: Any = 100,
        random_state: Any = 0,
    ) -> None:  # scikit-learn wants everything taken as it is, and looked at in `fit`
        self.network = network
        self.posterior = posterior
        self.training = training
        self.draws = draws
        self.random_state = random_state

    def score_pool(self, X: Any, acquire: str = "bald", **options: Any) -> Array:  # noqa: N803
        """One score per item, higher = ask first, as `aw.score_pool` gives them."""
        scores = score_pool(self._model(), self._inputs(X), acquire, draws=self.draws, **options)
        return np.asarray(scores.double().numpy())

    def _learn(self, x: Array, y: Tensor, task: str | Task, outputs: int) -> None:
        self.mean_, spread = x.mean(axis=0), x.std(axis=0)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        network = self.network
        if network is None:
            network = mlp(self.n_features_in_, outputs, hidden=(64,))
        elif not isinstance(network, nn.Module):
            network = network(self.n_features_in_, outputs)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        training = None if self.training is None else as_training(self.training)
        self.fitted_: Fitted = fit(
            network,
            (self._scaled(x), y),
            posterior=self.posterior,
            task=task,
            training=training,
            start="scratch",
            seed=seed,
        )

    def _model(self) -> Fitted:
        check_is_fitted(self)
        return self.fitted_

    def _inputs(self, x: Any) -> Tensor:
        return self._scaled(validate_data(self, x, reset=False))

    def _scaled(self, x: Array) -> Tensor:
        return torch.from_numpy((x - self.mean_) / self.scale_).float()

    def _predicted(self, x: Any) -> Prediction:
        return predict(self._model(), self._inputs(x), draws=self.draws)


class BayesClassifier(ClassifierMixin, _Bayes):  # type: ignore[misc]
    """A classifier with total, epistemic and aleatoric uncertainty.

    `network` is a torch module, a function of the numbers of features and classes that makes one, or None
    for a dense layer of 64 units; its weights are drawn anew from `random_state`. `posterior` is a name or
    a record, `training` an `aw.Training` or a table of its fields.

    >>> from askwise.sklearn import BayesClassifier
    >>> ours = BayesClassifier(training=short).fit(x.numpy(), y.numpy())
    >>> ours.predict_proba(x[:3].numpy()).shape, ours.uncertainty(x.numpy()).epistemic.shape
    ((3, 2), torch.Size([60]))
    """

    def fit(self, X: Any, y: Any) -> "BayesClassifier":  # noqa: N803
        """Learn from items X [N, D] and their classes y [N]."""
        x, labels = validate_data(self, X, y)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"a classifier needs two classes or more; y holds one class, {self.classes_[0]!r}"
            )
        self._learn(x, torch.from_numpy(codes.reshape(-1)), "classification", len(self.classes_))
        self.fitted_ = replace(self.fitted_, classes=tuple(map(str, self.classes_)))
        return self

    def predict_proba(self, X: Any) -> Array:  # noqa: N803
        """Probabilities [N, C], in the order of `classes_`."""
        mean = self._predicted(X).mean.double().numpy()
        return np.asarray(mean / mean.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> Array:  # noqa: N803
        """The likeliest class of every item."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])

    def uncertainty(self, X: Any) -> Uncertainty:  # noqa: N803
        """Total, epistemic and aleatoric uncertainty of every item, in nats."""
        found = self._predicted(X)
        return Uncertainty(found.total, found.epistemic, found.aleatoric)


class BayesRegressor(RegressorMixin, _Bayes):  # type: ignore[misc]
    """A regressor with the standard deviation of its predictions; several numbers of an item are taken too.

    `network` is a torch module, a function of the numbers of features and outputs that makes one, or None
    for a dense layer of 64 units. The noise is learned.

    >>> from askwise.sklearn import BayesRegressor
    >>> ours = BayesRegressor(training=short).fit(x.numpy(), x[:, 0].numpy())
    >>> mean, std = ours.predict(x[:3].numpy(), return_std=True)
    >>> mean.shape, bool((std > 0).all())
    ((3,), True)
    """

    def fit(self, X: Any, y: Any) -> "BayesRegressor":  # noqa: N803
        """Learn from items X [N, D] and their numbers y [N] or [N, K]."""
        x, numbers = validate_data(self, X, y, multi_output=True, y_numeric=True)
        if numbers.ndim == 2 and numbers.shape[1] == 1:
            numbers = column_or_1d(numbers, warn=True)
        self._flat = numbers.ndim == 1
        targets = torch.from_numpy(np.asarray(numbers, dtype=np.float32).reshape(len(numbers), -1))
        self._learn(x, targets, "regression", 2 * targets.shape[1])
        return self

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:  # noqa: N803
        """The expected numbers, and with `return_std` the deviation of a new observation from them."""
        found = self._predicted(X)
        mean, std = self._shaped(found.mean), self._shaped(found.total.sqrt())
        return (mean, std) if return_std else mean

    def _shaped(self, found: Tensor) -> Array:
        values = found.double().numpy()
        return np.asarray(values[:, 0] if self._flat else values)
