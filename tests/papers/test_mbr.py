"""A chain of four items, 0 - 1 - 2 - 3, whose ends are labelled 0 and 1: its harmonic values are known."""

import pytest
import torch

from askwise.errors import InputError
from askwise.papers.mbr import Harmonic, rbf, shares, zhu_width


def chain(count: int) -> torch.Tensor:
    edges = torch.zeros(count, count, dtype=torch.double)
    for place in range(count - 1):
        edges[place, place + 1] = edges[place + 1, place] = 1
    return edges


def test_values_on_a_chain_rise_evenly_from_0_to_1():
    graph = Harmonic(chain(4), {0: 0, 3: 1})
    torch.testing.assert_close(graph.all_values(), torch.tensor([0, 1 / 3, 2 / 3, 1], dtype=torch.double))


def test_expected_errors_on_a_chain_are_those_worked_by_hand():
    # Ask item 1 (value 1/3). Answer 0: item 2 is the mean of 0 and 1, an error of 1/2. Answer 1: it is 1.
    # So 2/3 * 1/2 + 1/3 * 0 = 1/3; item 2 is its mirror image.
    graph = Harmonic(chain(4), {0: 0, 3: 1})
    torch.testing.assert_close(graph.expected_errors(), torch.full((2,), 1 / 3, dtype=torch.double))
    # With five items the middle one (value 1/2) leaves 1/2 on one side only: 1/2. An outer one (1/4) leaves
    # 3/4 * (1/3 + 1/3) + 1/4 * 0 = 1/2 as well.
    graph = Harmonic(chain(5), {0: 0, 4: 1})
    torch.testing.assert_close(graph.expected_errors(), torch.full((3,), 0.5, dtype=torch.double))


def some_graph() -> tuple[torch.Tensor, dict[int, int]]:
    x = torch.randn(12, 3, generator=torch.Generator().manual_seed(0))
    return rbf(x, x, width=1.0), {0: 0, 5: 1, 7: 0}


def by_force(edges: torch.Tensor, labels: dict[int, int]) -> torch.Tensor:
    """Values by averaging over the neighbours until nothing moves."""
    weights = edges.clone().fill_diagonal_(0)
    values = torch.full((len(edges),), 0.5, dtype=torch.double)
    for _ in range(5000):
        values = weights @ values / weights.sum(dim=1)
        for place, label in labels.items():
            values[place] = label
    return values


def test_values_are_the_means_of_their_neighbours():
    edges, labels = some_graph()
    torch.testing.assert_close(Harmonic(edges, labels).all_values(), by_force(edges, labels))


def test_the_choice_is_that_of_solving_every_answer_again():
    edges, labels = some_graph()
    graph = Harmonic(edges, labels)
    values = graph.all_values()
    expected = []
    for place in graph.free.tolist():
        risk = 0.0
        for answer, chance in ((0, 1 - values[place]), (1, values[place])):
            after = by_force(edges, {**labels, place: answer})
            risk += float(chance * torch.minimum(after, 1 - after).sum())
        expected.append(risk)
    torch.testing.assert_close(graph.expected_errors(), torch.tensor(expected, dtype=torch.double))
    assert graph.best() == graph.free[int(torch.tensor(expected).argmin())]
    assert len({round(value, 6) for value in expected}) > 1  # there is something to choose


def test_an_answer_taken_in_equals_a_graph_made_anew():
    edges, labels = some_graph()
    graph, new = Harmonic(edges, labels), Harmonic(edges, {**labels, 3: 1})
    graph.tell(3, 1)
    torch.testing.assert_close(graph.all_values(), new.all_values())
    torch.testing.assert_close(graph.inverse, new.inverse)


def test_an_item_outside_the_graph_has_the_mean_of_its_neighbours():
    graph = Harmonic(chain(4), {0: 0, 3: 1})
    across = torch.tensor([[1.0, 0, 0, 1], [0, 0, 2, 0]], dtype=torch.double)
    assert graph.predict(across).tolist() == pytest.approx([0.5, 2 / 3])


def test_the_width_is_a_third_of_the_first_edge_between_two_classes():
    # On a line the tree joins 0, 1, 3 and 7, 8 first, by edges of 1, 1 and 2; an edge of 4 joins the classes.
    x = torch.tensor([[0.0], [1.0], [3.0], [7.0], [8.0]])
    assert zhu_width(x, {0: 0, 4: 1}) == pytest.approx(4 / 3)
    assert zhu_width(x, {0: 0, 1: 1}) == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="two classes"):
        zhu_width(x, {0: 0, 4: 0})


def test_shares_are_the_edges_of_each_row_and_do_not_vanish_far_away():
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    near, edges = shares(x, x, width=1.0), rbf(x, x, width=1.0)
    torch.testing.assert_close(near, edges / edges.sum(dim=1, keepdim=True))
    far = x + 100
    assert not rbf(far, x, width=1.0).any()  # the control
    torch.testing.assert_close(shares(far, x, width=1.0).sum(dim=1), torch.ones(5, dtype=torch.double))
