"""Optimizers that learn a distribution over weights, for a loop of one's own.

Each offers `samples`, `sampling()` and `step()`: a step is `samples` losses, every one computed and
differentiated inside `with optimizer.sampling():`, and then `optimizer.step()`.
"""

from askwise.optim import rule
from askwise.optim.beside import Beside
from askwise.optim.ivon import IVON
from askwise.optim.vogn import VOGN

__all__ = ["IVON", "VOGN", "Beside", "rule"]
