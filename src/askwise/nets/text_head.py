"""The part that learns from labels, on top of what an encoder says about a text."""

from collections import OrderedDict

from torch import nn

from askwise.errors import positive
from askwise.nets.rates import rate
from askwise.nets.recipe import recorded


@recorded
def text_head(
    *, features: int = 384, classes: int = 2, hidden: int = 256, dropout: float = 0.5
) -> nn.Sequential:
    """Two dense layers with dropout between them; features [N, features] to logits [N, classes]."""
    return nn.Sequential(
        OrderedDict(
            dense1=nn.Linear(positive("features", features), positive("hidden", hidden)),
            relu1=nn.ReLU(),
            dropout1=nn.Dropout(rate(dropout)),
            dense2=nn.Linear(hidden, positive("classes", classes)),
        )
    )
