"""The minimum of a smooth function of many numbers, by L-BFGS (Liu and Nocedal 1989).

torch has one too; this one keeps its memory in two blocks, so that all of it goes back to the
machine when it is done. That matters where a vector has millions of numbers.
"""

from collections.abc import Callable
from typing import TypeAlias

from jaxtyping import Float
from torch import Tensor

_PAIRS = 5  # of moves and changes of slope that are remembered
_HALVINGS = 40  # of a step that does not go down
_ENOUGH = 1e-4  # of the fall that the slope promises (Armijo)

Loss: TypeAlias = Callable[[Tensor], tuple[float, Tensor]]
"""Value and slope at a point."""


def minimum(loss: Loss, start: Float[Tensor, " P"], *, within: float, steps: int) -> Float[Tensor, " P"]:
    """The minimum: a point whose slopes are all below `within`, or the last point after `steps` steps."""
    point = start
    value, slope = loss(point)
    moves, turns = (point.new_empty(_PAIRS, len(point)) for _ in range(2))
    known: list[int] = []  # rows of the two, the oldest first
    for number in range(steps):
        if float(slope.abs().max()) <= within:
            break
        way = _newton(slope, moves, turns, known)
        found = _step(loss, point, value, way, fall=float(way @ slope))
        if found is None:
            break
        row = number % _PAIRS
        moves[row], turns[row] = found[0] - point, found[2] - slope
        known = [k for k in known if k != row]
        if float(moves[row] @ turns[row]) > 0:  # otherwise the function is not convex here
            known.append(row)
        point, value, slope = found
    return point


def _step(
    loss: Loss, point: Tensor, value: float, way: Tensor, *, fall: float
) -> tuple[Tensor, float, Tensor] | None:
    """The first point on the way, of one, a half, a quarter, ..., that is low enough; a NaN never is."""
    length = 1.0
    for _ in range(_HALVINGS):
        new = point + length * way
        there, slope = loss(new)
        if there <= value + _ENOUGH * length * fall:
            return new, there, slope
        length /= 2
    return None


def _newton(slope: Tensor, moves: Tensor, turns: Tensor, known: list[int]) -> Tensor:
    """Minus the inverse curvature, as far as it is remembered, times the slope."""
    way = -slope
    shares = {}
    for row in reversed(known):
        shares[row] = float(moves[row] @ way) / float(moves[row] @ turns[row])
        way -= shares[row] * turns[row]
    if known:
        last = known[-1]
        way *= float(moves[last] @ turns[last]) / float(turns[last] @ turns[last])
    for row in known:
        again = float(turns[row] @ way) / float(moves[row] @ turns[row])
        way += (shares[row] - again) * moves[row]
    return way
