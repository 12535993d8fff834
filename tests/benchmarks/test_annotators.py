"""Annotators over HTTP and kills, in little; and that the counts of the benchmark can fail."""

import pytest
from annotators import accounted, double_leases, sound, tried

pytest.importorskip("fastapi")


def test_four_annotators_over_http_and_kills_lose_and_double_nothing():
    found = tried("sqlite", people=4, items=40, kills=1, servers=1, lease=3.0, leaves=0.05, pause=0.2)
    assert sound(found, 40), found
    assert found["killed"] == {"server": 1, "trainer": 1}
    assert found["answers"] >= 40


@pytest.mark.slow
def test_four_annotators_at_two_servers_of_one_postgresql_store_lose_and_double_nothing():
    found = tried("postgresql", people=4, items=60, kills=1, servers=2, lease=3.0, leaves=0.05, pause=0.2)
    assert sound(found, 60), found


def test_control_an_item_that_two_hold_at_a_time_is_counted():
    held = [("a", "ann", 0.0, 2.0), ("a", "ben", 1.0, 3.0), ("b", "ann", 0.0, 1.0), ("b", "ben", 1.0, 2.0)]
    assert double_leases(held) == 1
    assert double_leases([("a", "ann", 0.0, 2.0), ("a", "ann", 1.0, 3.0)]) == 0
    long = [("a", "ann", 0.0, 9.0), ("a", "ann", 1.0, 2.0), ("a", "ben", 3.0, 4.0)]
    assert double_leases(long) == 1, "the first of three still holds it"


def test_control_answers_that_are_missing_changed_or_there_twice_are_counted():
    kept = {"k1": (1, "one"), "k2": (2, "two"), "k3": (3, "two")}
    stored = [("k1", 1, "one"), ("k1", 9, "one"), ("k3", 3, "one")]
    assert accounted(kept, stored) == {"lost": 2, "doubled": 1}
    assert accounted(kept, [(key, *one) for key, one in kept.items()]) == {"lost": 0, "doubled": 0}
