import pytest
from PIL import Image

from askwise.errors import InputError
from askwise.report.figure import GREY, save
from askwise.report.side_by_side import Panel, side_by_side

PANELS = [
    Panel("accuracy", {"point": [90.0, 92.0], "bbb": [95.0]}, write="{:.1f}"),
    Panel("uncertainty", {"point": [0.9], "bbb": [0.8]}, second={"bbb": [0.7, 0.72]}),
    Panel("seconds", {"point": [0.1, 0.2], "bbb": [40.0]}, log=True),
    Panel("parameters", {"point": [1000.0], "bbb": [300_000.0]}, log=True),
    Panel("only one", {"bbb": [1.0]}),
]


@pytest.fixture(scope="module")
def shown():
    drawn = side_by_side(PANELS, title="digits")
    drawn.draw_without_rendering()
    return [axes for axes in drawn.axes if axes.get_visible()]


def test_every_measure_has_a_panel_and_every_method_a_line(shown) -> None:
    panels = shown
    assert [axes.get_title(loc="left") for axes in panels] == [panel.title for panel in PANELS]
    assert [text.get_text() for text in panels[0].get_yticklabels()] == ["point", "bbb"]
    assert panels[0].get_ylim()[0] > panels[0].get_ylim()[1]  # the first on top


def test_means_are_written_and_the_baseline_is_a_line_through_all(shown) -> None:
    axes = shown[0]
    assert [text.get_text() for text in axes.texts] == ["91.0", "95.0"]
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert [list(line.get_xdata()) for line in dashed] == [[91.0, 91.0]]
    assert dashed[0].get_color() == GREY
    assert not [line for line in shown[4].lines if line.get_linestyle() == "--"]


def test_the_title_says_how_many_seeds_there_are() -> None:
    assert side_by_side(PANELS, title="digits").get_suptitle() == "digits (n = 1 to 2)"
    assert side_by_side(PANELS[-1:], title="digits").get_suptitle() == "digits (n = 1)"


def test_a_second_measure_is_hollow(shown) -> None:
    hollow = [line for line in shown[1].lines if line.get_markerfacecolor() == "white"]
    assert [float(line.get_xdata()[0]) for line in hollow] == [pytest.approx(0.71)]


def test_large_and_small_numbers_are_written_out(shown) -> None:
    seconds, parameters = (
        [text.get_text() for text in axes.get_xticklabels() if text.get_text()] for axes in shown[2:4]
    )
    assert {"0.1", "1", "10"} <= set(seconds)
    assert {"1k", "10k", "100k"} <= set(parameters)


def test_it_is_saved_in_the_form_of_its_ending(tmp_path) -> None:
    path = save(side_by_side(PANELS, title="digits"), tmp_path / "new" / "all.png")
    with Image.open(path) as picture:
        assert picture.size[0] > 1000
    with pytest.raises(InputError, match=r"a figure ends in"):
        save(side_by_side(PANELS), tmp_path / "all.jpg")


@pytest.mark.parametrize("value", [0.0, 0.01, 0.43, 1.0])
def test_one_value_on_a_logarithmic_axis_is_drawn_whatever_it_is(value) -> None:
    """One tick of the clock is a power of ten, and less than one is 0."""
    side_by_side([Panel("seconds", {"point": [value]}, log=True)]).canvas.draw()
