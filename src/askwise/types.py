"""The shared words and their axes.

Axes: N items, T draws, C classes, D features, K picks, L tags, H W pixels. A capital names a
whole axis, a small letter a chunk of it; the order is always item, draw, site, class.
"""

from collections.abc import Mapping
from typing import TypeAlias

from jaxtyping import Float, Int64
from torch import Tensor

LogProbs: TypeAlias = Float[Tensor, "N T *sites C"]
"""Log-probabilities of every class, for each item under each draw."""

Moments: TypeAlias = Float[Tensor, "N T D 2"]
"""Mean and log-variance of the Gaussian that each draw predicts for every number of an item."""

SiteScores: TypeAlias = Float[Tensor, " N *sites"]
"""One score per site; `sites` is empty for classification, the numbers [D] for regression."""

Scores: TypeAlias = Float[Tensor, " N"]
"""One score per item; higher means ask first."""

Features: TypeAlias = Float[Tensor, "N D"]
"""What the network sees of each item just before its last layer, or any other embedding."""

Picks: TypeAlias = Int64[Tensor, " K"]
"""Positions of the chosen items, in the order they were chosen."""

Draws: TypeAlias = Mapping[str, Tensor]
"""T values for some named tensors of a network: each tensor has the draw axis first."""
