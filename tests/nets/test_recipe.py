from torch import nn

from askwise.nets.recipe import recorded


@recorded
def single(width: int = 2, *, sizes: tuple[int, ...] = (1, 2)) -> nn.Sequential:
    """One dense layer."""
    return nn.Sequential(nn.Linear(width, 1))


def test_defaults_are_written_out_and_tuples_become_lists():
    assert single().recipe == {"name": "single", "options": {"width": 2, "sizes": [1, 2]}}


def test_the_recipe_is_no_part_of_the_state():
    assert list(single().state_dict()) == ["0.weight", "0.bias"]


def test_the_builder_keeps_its_name_and_its_sentence():
    assert single.__name__ == "single"
    assert single.__doc__ == "One dense layer."
