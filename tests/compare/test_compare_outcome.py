import json

import pytest
from PIL import Image
from tiny_comparison import TINY, row

from askwise.compare import COLUMNS, Found, cells, notes, outcome, write
from askwise.compare.outcome import behind, panels


@pytest.fixture
def told():
    rows = [row("point", 0, 0.95), row("point", 1, 0.97), row("bbb", 0, 0.93), row("bbb", 1, 0.93, ece=0.07)]
    return outcome(TINY, Found(rows, {"laplace": "it is too large"}), command="askwise compare digits")


def test_means_stand_over_their_deviations(told) -> None:
    point, bbb = (
        {column.key: cell for column, cell in zip(COLUMNS, cells(told, name), strict=True)}
        for name in ("point", "bbb")
    )
    assert point["accuracy"] == ("96.00", "±1.41")
    assert bbb["accuracy"] == ("93.00", "")
    assert bbb["ece"] == ("0.060", "±0.014")
    assert point["parameters"] == ("1,200", "")
    assert told["summary"]["point"]["accuracy"]["values"] == [0.95, 0.97]


def test_who_is_more_than_two_points_behind_is_named(told) -> None:
    assert told["behind"] == {"bbb": pytest.approx(3.0)}
    assert notes(told) == [
        "More than two points of accuracy below point: bbb (3.0).",
        "laplace refused: it is too large.",
    ]
    near = [row("point", 0, 0.95), row("bbb", 0, 0.935)]
    assert behind(near) == {}
    assert behind(near[1:]) == {}
    assert "No posterior is more" in notes(outcome(TINY, Found(near, {}), command=""))[0]


def test_table_picture_and_json_are_written(told, tmp_path) -> None:
    paths = write(told, tmp_path / "new", stem="compare_digits_60")
    table = paths["md"].read_text()
    assert "| point | 96.00 ±1.41 | 0.300 |" in table
    assert all(word in table for word in ("askwise compare digits", "Seeds 0, 1", '"labels": 60', "abc"))
    assert "(compare_digits_60.png)" in table
    assert json.loads(paths["json"].read_text()) == json.loads(json.dumps(told))
    assert {"command", "commit", "protocol", "seeds", "rows"} <= told.keys()
    with Image.open(paths["png"]) as picture:
        assert picture.size[0] > 1000


def test_every_measure_is_drawn(told) -> None:
    drawn = panels(told)
    assert len(drawn) == len(COLUMNS) - 1
    assert drawn[0].values["point"] == [95.0, 97.0]
    doubt = next(panel for panel in drawn if panel.second is not None)
    assert (doubt.values["bbb"], doubt.second["bbb"]) == ([0.9, 0.9], [0.8, 0.8])
