import json
from dataclasses import replace

import pytest
from PIL import Image
from tiny_comparison import TINY, row

from askwise.compare import Trials, cells, columns, notes, outcome, write
from askwise.compare.outcome import behind, panels, table

COLUMNS = columns("classification")


@pytest.fixture
def told():
    rows = [row("point", 0, 0.95), row("point", 1, 0.97), row("bbb", 0, 0.93), row("bbb", 1, 0.93, ece=0.07)]
    return outcome(TINY, Trials(rows, {"laplace": "it is too large"}), command="askwise compare digits")


def test_means_stand_over_their_deviations(told) -> None:
    point, bbb = (
        {column.key: cell for column, cell in zip(COLUMNS, cells(told, name), strict=True)}
        for name in ("point", "bbb")
    )
    assert point["accuracy"] == ("96.00", "±1.41")
    assert bbb["accuracy"] == ("93.00", "")
    assert bbb["ece"] == ("0.060", "±0.014")
    assert point["parameters"] == ("1.2", "")
    assert told["summary"]["point"]["accuracy"]["values"] == [0.95, 0.97]


def test_who_is_more_than_two_points_behind_is_named(told) -> None:
    assert told["behind"] == {"bbb": pytest.approx(3.0)}
    assert notes(told) == [
        "More than two points of accuracy below point: bbb (3.0).",
        "laplace refused: it is too large.",
    ]
    near = [row("point", 0, 0.95), row("bbb", 0, 0.935)]
    assert behind("classification", near) == {}
    assert behind("classification", near[1:]) == {}
    assert "No posterior is more" in notes(outcome(TINY, Trials(near, {}), command=""))[0]


def test_table_picture_and_json_are_written(told, tmp_path) -> None:
    paths = write(told, tmp_path / "new", stem="compare_digits_60")
    table = paths["md"].read_text()
    assert "| point | – | 96.00 ±1.41 | 0.300 |" in table
    assert all(word in table for word in ("askwise compare digits", "Seeds 0, 1", '"labels": 60', "abc"))
    assert "(compare_digits_60.png)" in table
    assert json.loads(paths["json"].read_text()) == json.loads(json.dumps(told))
    assert {"command", "commit", "protocol", "seeds", "rows"} <= told.keys()
    with Image.open(paths["png"]) as picture:
        assert picture.size[0] > 1000


def test_every_measure_is_drawn(told) -> None:
    drawn = panels(told)
    assert len(drawn) == len(COLUMNS) - 3  # not the weight, nobody's ELBO; two share one
    assert drawn[0].values["point"] == [95.0, 97.0]
    both = next(panel for panel in drawn if panel.second is not None)
    assert (both.values["bbb"], both.second["bbb"]) == ([0.9, 0.9], [0.8, 0.8])


def test_who_has_no_kl_weight_and_no_elbo_shows_a_dash() -> None:
    rows = [row("point", 0, 0.9), row("bbb", 0, 0.9, kl_weight=0.5, elbo=-0.25), row("bbb", 1, 0.9)]
    rows[2] |= {"kl_weight": 0.5, "elbo": -0.75}
    told = outcome(TINY, Trials(rows, {}), command="")
    found = {
        name: dict(zip([column.key for column in COLUMNS], cells(told, name), strict=True))
        for name in told["summary"]
    }
    assert [found["point"][key] for key in ("kl_weight", "elbo")] == [("–", ""), ("–", "")]
    assert [found["bbb"][key] for key in ("kl_weight", "elbo")] == [("0.5", ""), ("-0.500", "±0.354")]
    assert [panel.values for panel in panels(told) if panel.title.startswith("ELBO")] == [
        {"point": [], "bbb": [-0.25, -0.75]}
    ]


def test_the_table_says_what_the_weight_is_and_what_the_other_data_are() -> None:
    rows = [row("point", 0, 0.9)]
    for weight, said in ((None, "with its defaults. Mean"), (1.0, "and kl_weight 1 where it has one.")):
        told = outcome(replace(TINY, kl_weight=weight), Trials(rows, {}), command="")
        text = table(told, title="", picture="")
        assert said in text
        assert "tell patches of two photographs from the test items" in text
