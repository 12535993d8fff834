"""Minimum Bayes risk on a graph: harmonic functions and the choice that lowers the expected error most.

Zhu, Ghahramani and Lafferty 2003 (harmonic functions) and Zhu, Lafferty and Ghahramani 2003 (the choice).
Two classes, 0 and 1. A harmonic value is the mean of its neighbours', weighted by the edges, so it is
the probability that a walk from the item meets a 1 before it meets a 0.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float, Int64
from scipy.sparse.csgraph import minimum_spanning_tree
from torch import Tensor

from askwise.errors import InputError

_LEAST = 1e-12  # an item that is joined to nothing keeps a value


def rbf(x: Float[Tensor, "N D"], y: Float[Tensor, "M D"], *, width: float) -> Float[Tensor, "N M"]:
    """The edges exp(-|x - y|^2 / (2 width^2)) between two sets of items, in double precision."""
    return _log_edges(x, y, width).exp()


def shares(x: Float[Tensor, "N D"], y: Float[Tensor, "M D"], *, width: float) -> Float[Tensor, "N M"]:
    """The same edges in shares of one for each row, however far all of its items are."""
    return _log_edges(x, y, width).softmax(dim=1)


def _log_edges(x: Float[Tensor, "N D"], y: Float[Tensor, "M D"], width: float) -> Float[Tensor, "N M"]:
    return -(torch.cdist(x.double(), y.double()) ** 2) / (2 * width**2)


def zhu_width(x: Float[Tensor, "N D"], labels: Mapping[int, int]) -> float:
    """A third of the first edge that joins two classes when the shortest edges are taken in turn.

    So Zhu, Ghahramani and Lafferty 2003 set it: along a minimum spanning tree, with the labels known so
    far, and so that an edge between classes has nearly no weight.
    """
    tree = minimum_spanning_tree(torch.cdist(x.double(), x.double()).clamp_min(_LEAST).numpy()).tocoo()
    classes = {at: {labels[at]} if at in labels else set[int]() for at in range(len(x))}
    part = list(range(len(x)))
    for length, one, other in sorted(zip(tree.data, tree.row, tree.col, strict=True)):
        ends = [int(one), int(other)]
        for place, at in enumerate(ends):
            while part[at] != at:
                at = part[at]
            ends[place] = at
        if len(together := classes[ends[0]] | classes[ends[1]]) > 1:
            return float(length) / 3
        part[ends[1]], classes[ends[0]] = ends[0], together
    raise InputError("a width needs labels of two classes")


class Harmonic:
    """The harmonic function of a graph whose labels come one by one."""

    def __init__(self, edges: Float[Tensor, "N N"], labels: dict[int, int]) -> None:
        self.edges = edges.double().clone().fill_diagonal_(0)
        self.labels = dict(labels)
        self._solve()

    def _solve(self) -> None:
        known = torch.zeros(len(self.edges), dtype=torch.bool)
        known[list(self.labels)] = True
        self.free: Int64[Tensor, " U"] = (~known).nonzero().flatten()
        at = torch.tensor(list(self.labels), dtype=torch.long)
        laplacian = torch.diag(self.edges.sum(dim=1).clamp_min(_LEAST)) - self.edges
        self.inverse: Float[Tensor, "U U"] = torch.linalg.inv(laplacian[self.free][:, self.free])
        told = torch.tensor(list(self.labels.values()), dtype=torch.double)
        self.values: Float[Tensor, " U"] = self.inverse @ (self.edges[self.free][:, at] @ told)

    def expected_errors(self) -> Float[Tensor, " U"]:
        """For every item without a label: the errors to expect after it is answered.

        An answer moves every value along one column of the inverse, so all are found at once.
        """
        step = self.inverse / self.inverse.diagonal()
        value = self.values
        risks = []
        for answer in (0.0, 1.0):
            moved = value[:, None] + (answer - value)[None, :] * step  # [every item, the item answered]
            risks.append(torch.minimum(moved, 1 - moved).clamp_min(0).sum(dim=0))
        return (1 - value) * risks[0] + value * risks[1]

    def best(self) -> int:
        """The position of the item whose answer leaves the fewest errors to expect."""
        return int(self.free[self.expected_errors().argmin()])

    def tell(self, position: int, label: int) -> None:
        """Take in an answer: the inverse loses one row and column, without being computed again."""
        place = int((self.free == position).nonzero())
        column, pivot = self.inverse[:, place], self.inverse[place, place]
        self.values = self.values + (label - self.values[place]) * column / pivot
        rest: Bool[Tensor, " U"] = self.free != position
        smaller = self.inverse - torch.outer(column, self.inverse[place]) / pivot
        self.inverse, self.values, self.free = smaller[rest][:, rest], self.values[rest], self.free[rest]
        self.labels[position] = label

    def all_values(self) -> Float[Tensor, " N"]:
        """The value of every item: its label where it has one."""
        found = torch.empty(len(self.edges), dtype=torch.double)
        found[self.free] = self.values
        found[list(self.labels)] = torch.tensor(list(self.labels.values()), dtype=torch.double)
        return found

    def predict(self, edges: Float[Tensor, "M N"]) -> Float[Tensor, " M"]:
        """The value of other items, from their edges to those of the graph."""
        total = edges.sum(dim=1).clamp_min(_LEAST)
        return edges @ self.all_values() / total
