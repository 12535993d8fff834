from torch import nn

from askwise.nets.recipe import is_recipe, recorded


@recorded
def single(width: int = 2, *, sizes: tuple[int, ...] = (1, 2)) -> nn.Sequential:
    """One dense layer."""
    return nn.Sequential(nn.Linear(width, 1))


@recorded
def around(network: nn.Module, *, shapes: dict[str, tuple[int, ...]] | None = None) -> nn.Sequential:
    """A network and nothing else."""
    return nn.Sequential(network)


def test_defaults_are_written_out_and_tuples_become_lists():
    assert single().recipe == {"name": "single", "options": {"width": 2, "sizes": [1, 2]}}


def test_tuples_inside_a_table_become_lists_too():
    assert around(single(), shapes={"a": (1, 2)}).recipe["options"]["shapes"] == {"a": [1, 2]}


def test_the_recipe_is_no_part_of_the_state():
    assert list(single().state_dict()) == ["0.weight", "0.bias"]


def test_the_builder_keeps_its_name_and_its_sentence():
    assert single.__name__ == "single"
    assert single.__doc__ == "One dense layer."


def test_a_network_among_the_options_is_written_as_its_own_recipe():
    inner = around(single(3)).recipe["options"]["network"]
    assert inner == single(3).recipe
    assert is_recipe(inner)


def test_around_a_network_of_ones_own_there_is_no_recipe():
    assert not hasattr(around(nn.Linear(2, 1)), "recipe")


def test_a_table_of_options_is_no_recipe():
    assert not is_recipe({"name": "single"})
    assert not is_recipe({"a": [1, 2]})
