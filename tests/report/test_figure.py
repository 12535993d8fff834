import re
from dataclasses import replace
from importlib.resources import files
from statistics import fmean, stdev

import pytest
from PIL import Image
from sample_content import sample

from askwise.errors import InputError
from askwise.report.figure import COLOURS, GREY, figure, save


def test_every_curve_is_drawn_with_its_band():
    axes = figure(sample().curves).axes[0]
    assert [line.get_label() for line in axes.lines] == [f"{curve.name} (n = 3)" for curve in sample().curves]
    assert len(axes.collections) == len(sample().curves)
    assert axes.lines[0].get_ydata().max() > 90  # in percent


def test_more_than_four_curves_have_error_bars_instead_of_bands():
    four = sample().curves
    axes = figure([*four, replace(four[0], name="a fifth")]).axes[0]
    assert len(axes.lines) == 5
    assert len(axes.collections) == 5
    first = four[0]
    low, high = axes.collections[0].get_segments()[2][:, 1]
    at = [100 * values[2] for values in first.values]
    assert (low + high) / 2 == pytest.approx(fmean(at))
    assert (high - low) / 2 == pytest.approx(stdev(at) / len(at) ** 0.5)
    assert axes.get_ylabel().endswith("± standard error")


def test_labels_for_validation_are_named_on_the_axis():
    (one,) = (replace(curve, validation=100) for curve in sample().curves[:1])
    assert figure([one]).axes[0].get_xlabel() == "labels (and 100 for validation)"
    assert figure(sample().curves).axes[0].get_xlabel() == "labels"


def test_the_baseline_is_grey_and_only_what_others_have_published_is_dashed():
    curves = sample().curves
    axes = figure(curves, theirs=curves[:1]).axes[0]
    assert [line.get_linestyle() for line in axes.lines] == ["-", "-", "-", "-", "--"]
    assert [line.get_color() for line in axes.lines] == [*COLOURS[:3], GREY, COLOURS[0]]


@pytest.mark.parametrize(
    ("count", "seeds", "words"),
    [(4, 3, ", range of the seeds"), (5, 3, ", ± standard error"), (4, 1, "%"), (5, 1, "%")],
)
def test_the_axis_says_what_the_spread_is(count, seeds, words):
    one = replace(sample().curves[0], seeds=[*range(seeds)], values=sample().curves[0].values[:seeds])
    axes = figure([replace(one, name=str(number)) for number in range(count)]).axes[0]
    assert axes.get_ylabel().endswith(words)


def test_the_colours_are_those_of_the_page():
    style = files("askwise.report").joinpath("style.css").read_text(encoding="utf-8")
    assert tuple(re.findall(r"--c-\d: (#\w+)", style)[: len(COLOURS)]) == COLOURS


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_it_is_saved_in_the_form_of_its_ending(tmp_path, ending):
    path = save(figure(sample().curves, title="digits"), tmp_path / "new" / f"curves.{ending}")
    assert path.stat().st_size > 1000
    if ending == "png":
        with Image.open(path) as picture:
            assert picture.size[0] > 800


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"a figure ends in \.pdf, \.png, \.svg, not in \.jpg"):
        save(figure(sample().curves), tmp_path / "curves.jpg")
