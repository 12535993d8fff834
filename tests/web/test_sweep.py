"""Sweep: what is offered and what is stored; sentinels stay what they are, and measure."""

import pytest
from small_page import Page, truth

from askwise.store.facts import Answer, Resolution, Sweep
from askwise.web.desk import opaque
from askwise.web.sweeping import past, to_check


def told(page, number, ids, sure=0.95):
    """What the trainer publishes."""
    values = [sure] * len(ids) if isinstance(sure, float) else sure
    page.live.tell("sweepable", found=[{"number": number, "ids": ids, "sure": values}])


def named(page, name):
    return [one for one in page.pool_ids() if truth(one.rpartition("/")[2]) == name]


def label(page, ids, value):
    """Answers out of turn, as from the history."""
    body = [
        {"key": f"key-{value}-{place:04d}", "item": opaque(name), "verdict": "label", "value": value}
        for place, name in enumerate(ids)
    ]
    assert page.post("/api/answers", body).json()["refused"] == []


def grid(page, **params):
    return page.get("/api/sweep", params=params).json()


def confirm(page, one, wrong=(), *, key="grid-key-1", **more):
    body = {
        "key": key,
        "name": one["name"],
        "revision": one["revision"],
        "tiles": [tile["item"] for tile in one["tiles"]],
        "wrong": [{"item": item, "value": value} for item, value in wrong],
        **more,
    }
    return page.post(f"/api/sweeps/{one['id']}", body)


def labels(page):
    return dict(page.desk.ledger.refresh().labels)


@pytest.fixture
def ready(page):
    """Ann has labelled four light ones herself, and the model is sure of the dark ones."""
    light, dark = named(page, "light"), named(page, "dark")
    label(page, light[:4], "light")
    told(page, 0, dark)
    return page


def sentinels(page, one):
    known = {opaque(name) for name in labels(page)}
    return [tile["item"] for tile in one["tiles"] if tile["item"] in known]


def test_a_class_is_offered_from_four_of_five_on(ready):
    dark = named(ready, "dark")
    assert [(one["name"], one["count"]) for one in grid(ready)["offers"]] == [("dark", len(dark))]
    told(ready, 0, dark, 0.79)
    found = grid(ready)
    assert (found["offers"], found["grid"]) == ([], None)
    assert "four of five" in found["reason"]
    told(ready, 0, dark, [1.0] * 8 + [0.4] * (len(dark) - 8))
    assert grid(ready)["offers"][0]["count"] == 12  # (8 + 4 x 0.4) / 12 = 0.8


def test_a_grid_holds_the_surest_and_two_sentinels_that_nothing_tells_apart(ready):
    one = grid(ready, **{"class": "dark"})["grid"]
    dark = {opaque(name) for name in named(ready, "dark")}
    assert len(one["tiles"]) == len(dark) + 2
    hidden = sentinels(ready, one)
    assert len(hidden) == 2
    assert {tile["item"] for tile in one["tiles"]} - set(hidden) <= dark
    assert len({frozenset(tile) for tile in one["tiles"]}) == 1, "every tile has the same fields"
    assert {tile["kind"] for tile in one["tiles"]} == {"image"}
    places = {one["tiles"].index(tile) for tile in one["tiles"] if tile["item"] in hidden}
    assert places != {0, 1}


def test_confirming_is_one_append_and_leaves_the_sentinels_as_they_were(ready):
    one = grid(ready)["grid"]
    hidden = sentinels(ready, one)
    before, at = labels(ready), ready.desk.store.revision
    marked = [tile["item"] for tile in one["tiles"] if tile["item"] not in hidden][:3]
    wrong = [(marked[0], "light"), (marked[1], None), (marked[2], "light"), (hidden[0], None)]
    reply = confirm(ready, one, wrong).json()
    assert reply["revision"] == ready.desk.store.revision == at + 1
    assert reply["labels"] == len(one["tiles"]) - 3
    after = labels(ready)
    assert {name: after[name] for name in before} == before
    by_item = {opaque(name): value for name, value in after.items()}
    assert (by_item[marked[0]], by_item.get(marked[1]), by_item[marked[2]]) == (1, None, 1)
    swept = [answer for answer in ready.desk.answers() if answer.revision == at + 1]
    assert {(answer.view, answer.assisted) for answer in swept} == {("sweep", True)}
    [fact] = ready.desk.store.facts(Sweep)
    assert len(fact.sentinels) == 2
    assert [opaque(name) for name in fact.missed] == [hidden[1]]
    assert past(ready.desk, "ann").misses.rate == 0.5


def test_the_same_key_is_stored_once_and_one_undo_takes_all_of_it_back(ready):
    one = grid(ready)["grid"]
    before = labels(ready)
    first = confirm(ready, one).json()
    again = confirm(ready, one).json()
    assert first == again
    assert len(ready.desk.store.facts(Sweep)) == 1
    at = ready.desk.store.revision
    undone = confirm(ready, one, key="undo-key-1", undo=True).json()
    assert undone["revision"] == at + 1
    assert confirm(ready, one, key="undo-key-1", undo=True).json() == undone
    assert labels(ready) == before
    taken = [answer for answer in ready.desk.store.facts(Answer) if answer.revision == at + 1]
    assert {answer.verdict for answer in taken} == {"retract"}
    assert past(ready.desk, "ann").misses.shown == 0
    third = confirm(ready, one, key="grid-key-2").json()
    assert third["labels"] == first["labels"]
    nothing = page_undo_of_unknown(ready, one)
    assert nothing["labels"] == 0


def page_undo_of_unknown(page, one):
    return confirm(page, {**one, "id": "0" * 16}, key="undo-key-2", undo=True).json()


def test_what_somebody_answered_since_stays_through_confirm_and_undo(ready):
    one = grid(ready)["grid"]
    hidden = sentinels(ready, one)
    [early, late, *_] = [tile["item"] for tile in one["tiles"] if tile["item"] not in hidden]
    names = {opaque(name): name for name in ready.pool_ids()}
    label(ready, [names[early]], "light")
    confirm(ready, one)
    assert labels(ready)[names[early]] == 1
    body = {"key": "later-key", "item": late, "verdict": "label", "value": "light", "view": "history"}
    ready.post("/api/answers", [body])
    confirm(ready, one, key="undo-key-1", undo=True)
    assert labels(ready)[names[late]] == 1
    assert early in {opaque(name) for name in labels(ready)}


def test_leased_labelled_and_wrong_items_are_not_offered_again(ready):
    held = {one["item"] for one in ready.questions(8)}
    one = grid(ready)["grid"]
    offered = {tile["item"] for tile in one["tiles"]}
    assert held
    assert not held & offered
    hidden = sentinels(ready, one)
    [bad, *_] = [item for item in sorted(offered) if item not in hidden]
    confirm(ready, one, [(bad, None)])
    found = grid(ready)
    assert found["grid"] is None
    assert found["offers"] == []
    told(ready, 1, named(ready, "dark"))
    names = {opaque(name): name for name in ready.pool_ids()}
    assert names[bad] not in labels(ready), "it goes back to the pool"


def test_two_people_get_different_items(project):
    page = Page(project, people={"t" * 40: "ann", "u" * 40: "bob"})
    with page.client:
        dark = named(page, "dark")
        told(page, 0, dark)
        page.client.headers["authorization"] = "Bearer " + "t" * 40
        mine = {tile["item"] for tile in grid(page, n=8)["grid"]["tiles"]}
        page.client.headers["authorization"] = "Bearer " + "u" * 40
        theirs = {tile["item"] for tile in grid(page, n=8)["grid"]["tiles"]}
        assert len(mine) == len(theirs) == 8
        assert not mine & theirs


def swept(page, misses):
    """Grids of one item each with one sentinel, which is missed as the list says."""
    store, desk = page.desk.store, page.desk
    dark, light = named(page, "dark"), named(page, "light")
    for place, missed in enumerate(misses):
        name = dark[place]
        answer = Answer(
            id=name, key=f"g{place}", verdict="label", label=0, annotator="ann", view="sweep", assisted=True
        )
        store.append(
            [
                answer,
                Sweep(
                    sweep=f"{place:016x}",
                    key=f"g{place}",
                    annotator="ann",
                    number=0,
                    items=(name,),
                    sentinels=(light[0],),
                    missed=(light[0],) if missed else (),
                ),
            ]
        )
    desk.ledger.refresh()


def test_above_a_tenth_the_grid_halves_and_above_a_fifth_it_rests_until_the_last_two_are_checked(ready):
    dark = named(ready, "dark")
    swept(ready, [False] * 7 + [True] * 3)  # 3 of 10, at least 7 %
    told(ready, 0, dark[10:])
    found = grid(ready, n=16)
    assert (found["state"], len(found["grid"]["tiles"])) == ("halved", 8)
    assert to_check(ready.desk) == []


def test_sweep_rests_and_its_last_two_grids_go_to_check(ready):
    dark = named(ready, "dark")
    swept(ready, [False] * 6 + [True] * 4)  # 4 of 10, at least 12 %
    told(ready, 0, dark[10:])
    found = grid(ready)
    assert (found["state"], found["grid"], found["offers"]) == ("resting", None, [])
    assert "4 of 10" in found["reason"]
    assert to_check(ready.desk) == dark[8:10]
    assert found["to_check"] == 2
    for place, name in enumerate(dark[8:10]):
        assert grid(ready)["grid"] is None
        label(ready, [name], ["dark", "light"][place])
    assert to_check(ready.desk) == []
    again = grid(ready)
    assert again["state"] == "whole"
    assert again["grid"] is not None
    assert again["misses"]["shown"] == 0, "a new run begins"


def test_sweep_rests_at_once_when_the_first_grid_was_confirmed_blindly(ready):
    one = grid(ready)["grid"]
    assert len(sentinels(ready, one)) == 2
    confirm(ready, one)
    found = grid(ready)
    assert (found["state"], found["grid"]) == ("resting", None)
    assert found["to_check"] == len(one["tiles"]) - 2


def test_what_is_settled_by_a_last_word_was_looked_at(ready):
    swept(ready, [False] * 6 + [True] * 4)
    first, second = to_check(ready.desk)
    ready.desk.store.append([Resolution(id=first, verdict="label", label=1, annotator="ann")])
    ready.desk.ledger.refresh()
    assert to_check(ready.desk) == [second]


@pytest.mark.parametrize("misses", [[True, False], [True] + [False] * 3 + [True, False]])
def test_one_miss_of_two_or_two_of_six_are_no_reason_to_rest(ready, misses):
    swept(ready, misses)
    assert past(ready.desk, "ann").size(24) == 24


def test_no_more_is_swept_than_the_budget_has_room_for(project):
    text = project.plan.read_text()
    project.plan.write_text(text.replace("budget = 60", "budget = 15"))
    page = Page(project)
    with page.client:
        light, dark = named(page, "light"), named(page, "dark")
        label(page, light[:4], "light")
        told(page, 0, dark)
        assert page.get("/api/sweep").json()["offers"][0]["count"] == 11
        held = page.questions(2)
        one = grid(page)["grid"]
        assert len(one["tiles"]) == 15 - 4 - len(held) + 2  # two sentinels
        confirm(page, one, [(item, "light") for item in sentinels(page, one)])
        assert len(labels(page)) == 15 - len(held)
        told(page, 0, dark)
        found = grid(page)
        assert (found["offers"], found["grid"]) == ([], None)
        assert "The budget of 15 labels has room for 0 more." in found["reason"]
        own = grid(page, **{"class": "dark", "items": opaque(dark[-1])})
        assert (own["grid"], own["reason"]) == (None, found["reason"])


def test_a_choice_of_ones_own_becomes_a_grid_with_sentinels(ready):
    mine = [opaque(name) for name in named(ready, "dark")[:5]]
    taken = opaque(named(ready, "light")[0])
    found = grid(ready, **{"class": "dark", "items": ",".join([*mine, taken])})
    tiles = [tile["item"] for tile in found["grid"]["tiles"]]
    assert set(mine) <= set(tiles)
    assert found["grid"]["precision"] is None
    assert len(sentinels(ready, found["grid"])) == len(tiles) - len(mine)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "no such"}, "there is no class"),
        ({"tiles": ["0" * 24]}, "there is no such item"),
        ({"revision": 10**6}, "was not offered yet"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_stored(ready, change, words):
    one = grid(ready)["grid"]
    at = ready.desk.store.revision
    body = {
        "key": "grid-key-9",
        "name": "dark",
        "revision": one["revision"],
        "tiles": [tile["item"] for tile in one["tiles"]],
    }
    reply = ready.post(f"/api/sweeps/{one['id']}", {**body, **change})
    assert reply.status_code == 400
    assert words in reply.json()["error"]
    assert ready.desk.store.revision == at


def first_grid(ready):
    """The dark photos, a grid of the first eight, its sentinels and its other tiles."""
    dark = named(ready, "dark")
    told(ready, 0, dark[:8])
    one = grid(ready)["grid"]
    hidden = sentinels(ready, one)
    return dark, one, hidden, [tile["item"] for tile in one["tiles"] if tile["item"] not in hidden]


def test_the_next_offers_are_as_sure_as_the_last_grids_have_shown(ready):
    dark, one, hidden, others = first_grid(ready)
    wrong = others[:4]
    reply = confirm(ready, one, [(item, "light") for item in [*hidden, *wrong]]).json()
    assert reply["labels"] == 8
    told(ready, 0, dark[8:], 0.9)
    [offer] = grid(ready)["offers"]
    assert offer["precision"] == pytest.approx(1 - 0.1 * (4 + 5) / (8 * 0.05 + 5), abs=0.001)
    told(ready, 0, dark[8:], 0.85)
    assert grid(ready)["offers"] == []
    confirm(ready, one, key="undo-key-1", undo=True)
    [offer] = grid(ready)["offers"]  # the control: a grid that was taken back says nothing
    assert offer["precision"] == pytest.approx(0.85, abs=0.001)


def test_what_was_overlooked_by_the_sentinels_is_counted_in(ready):
    dark, one, hidden, others = first_grid(ready)
    wrong = others[:2]
    confirm(ready, one, [(item, "light") for item in [hidden[0], *wrong]])  # one of two sentinels is missed
    told(ready, 0, dark[8:], 0.9)
    [offer] = grid(ready)["offers"]
    assert offer["precision"] == pytest.approx(1 - 0.1 * (2 / 0.5 + 5) / (8 * 0.05 + 5), abs=0.001)


def test_of_what_a_person_has_picked_nothing_was_expected(ready):
    dark = named(ready, "dark")
    picked = [opaque(name) for name in dark[:8]]
    one = grid(ready, **{"class": "dark", "items": ",".join(picked)})["grid"]
    hidden = sentinels(ready, one)
    wrong = [tile["item"] for tile in one["tiles"] if tile["item"] not in hidden][:6]
    confirm(ready, one, [(item, "light") for item in [*hidden, *wrong]])
    told(ready, 0, dark[8:], 0.9)
    [offer] = grid(ready)["offers"]
    assert offer["precision"] == pytest.approx(0.9, abs=0.001)
