"""Dense layers one after another, for tables, features and small images."""

from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise

from torch import nn

from askwise.errors import positive
from askwise.nets.parts import rate
from askwise.nets.recipe import recorded


@recorded
def mlp(
    features: int, classes: int, *, hidden: Sequence[int] = (128, 128), dropout: float = 0.0
) -> nn.Sequential:
    """`dense1`, `dense2`, ... with ReLU between them; inputs [N, ...] of `features` values to outputs.

    Dropout follows each hidden layer where its rate is above 0.

    >>> aw.nets.mlp(4, 2, hidden=(16, 16), dropout=0.5)(x).shape
    torch.Size([60, 2])
    """
    dropped = rate(dropout) > 0
    widths = [positive("features", features), *(positive("hidden width", width) for width in hidden)]
    stages: OrderedDict[str, nn.Module] = OrderedDict(flatten=nn.Flatten())
    for number, (inner, outer) in enumerate(pairwise(widths), start=1):
        stages[f"dense{number}"] = nn.Linear(inner, outer)
        stages[f"relu{number}"] = nn.ReLU()
        if dropped:
            stages[f"dropout{number}"] = nn.Dropout(dropout)
    stages[f"dense{len(widths)}"] = nn.Linear(widths[-1], positive("classes", classes))
    return nn.Sequential(stages)


@recorded
def linear(features: int, classes: int) -> nn.Sequential:
    """One dense layer: inputs [N, ...] of `features` values to outputs.

    >>> aw.nets.linear(4, 2)(x).shape
    torch.Size([60, 2])
    """
    dense = nn.Linear(positive("features", features), positive("classes", classes))
    return nn.Sequential(OrderedDict(flatten=nn.Flatten(), dense1=dense))
