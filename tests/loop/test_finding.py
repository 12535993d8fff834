"""What is found: the nearest in features, those of a class, those inside a line on the map."""

import numpy as np
import pytest
from small_run import CLASSES, IDS, POINTS, TRUTH, learner

from askwise.errors import InputError
from askwise.loop.finding import _within


def cosines(place):
    rows = POINTS[:40] / np.linalg.norm(POINTS[:40], axis=1, keepdims=True)
    found = rows @ rows[place]
    return [IDS[at] for at in np.argsort(-found, kind="stable") if at != place]


def test_the_nearest_are_those_of_a_brute_search_however_small_the_chunks(monkeypatch):
    with learner(testing=0.0) as run:
        wanted = cosines(7)[:9]
        assert run.finder.alike([IDS[7]], count=9).ids == wanted
        monkeypatch.setattr("askwise.loop.finding.chunk_size", lambda _: 3)
        found = run.finder.alike([IDS[7]], count=9)
        assert (found.ids, found.looked_at) == (wanted, 39)
        assert found.scores == sorted(found.scores, reverse=True)
        both = run.finder.alike([IDS[7], IDS[8]], count=38)
        assert set(both.ids) == set(IDS[:40]) - {IDS[7], IDS[8]}
        with pytest.raises(InputError, match="no item"):
            run.finder.alike(["nobody"], count=3)


def test_nothing_that_is_kept_for_testing_is_found():
    with learner(testing=0.3, region=0.5, test=None) as run:
        run.ask()
        kept = run.kept_for_testing()
        assert len(kept) > 8
        finder = run.finder
        assert not kept & set(finder.listed())
        assert not kept & set(finder.alike([IDS[0]], count=40).ids)
        everything = np.array([[-1, -1], [2, -1], [2, 2], [-1, 2]], float)
        assert set(finder.inside(everything)) == set(finder.listed()) == set(IDS[:40]) - kept


def test_items_of_a_class_are_those_the_model_would_give_it_the_surest_first():
    with learner() as run:
        with pytest.raises(InputError, match="no model yet"):
            run.finder.of_class("red", unsure=False, count=3)
        run.run(oracle=TRUTH)
        found = {name: run.finder.of_class(name, unsure=False, count=40) for name in CLASSES}
        ids = [one for name in CLASSES for one in found[name].ids]
        assert len(ids) == len(set(ids)) == 30, "each unlabelled item is guessed once"
        for one in found.values():
            assert one.scores == sorted(one.scores, reverse=True)
        again = run.finder.of_class("red", unsure=True, count=40)
        assert again.ids == found["red"].ids[::-1] or again.scores == sorted(again.scores)
        with pytest.raises(InputError, match="choose one of"):
            run.finder.of_class("violet", unsure=False, count=3)


def test_the_map_is_the_two_axes_of_the_largest_variance():
    with learner() as run:
        found = run.finder.map()
        about = POINTS[:40] - POINTS[:40].mean(axis=0)
        along = about @ np.linalg.svd(about, full_matrices=False)[2][:2].T
        order = [IDS.index(name) for name in found.ids]
        for axis in range(2):
            assert abs(np.corrcoef(found.places[:, axis], along[order, axis])[0, 1]) > 0.98
        assert found.places.min() == 0
        assert found.places.max() == 1
        assert len(run.finder.drawn(10).ids) == 10


def test_inside_is_inside_of_a_shape_with_a_dent():
    corners = np.array([[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]], float)
    inside = [[1, 1], [3.5, 3], [0.2, 3]]
    outside = [[2, 3], [-1, 1], [5, 1], [2, 1.5]]
    assert _within(np.array(inside + outside, float), corners).tolist() == [True] * 3 + [False] * 4
