"""A round sees what was encoded when it began, and its axes are fitted to that."""

import pytest
import torch
from torch import nn

import askwise as aw
from askwise.loop import axes as loop_axes
from askwise.loop.live import BLIND
from askwise.nets.axes import axes_of
from askwise.pool import encoding_order, fit_axes
from askwise.store.facts import Asked, Encoded, Question

COUNT = 200


class Doubled(nn.Module):
    """An encoder that counts what it encodes."""

    seen = 0

    def __init__(self):
        super().__init__()
        self.register_buffer("times", torch.tensor(2.0))

    def forward(self, x):
        Doubled.seen += len(x)
        return self.times * x


def items():
    rng = torch.Generator().manual_seed(3)
    y = torch.arange(COUNT) % 3
    x = torch.randn(COUNT, 8, generator=rng) + 3 * torch.nn.functional.one_hot(y, 8)
    names = [f"i{n:03d}" for n in range(COUNT)]
    return aw.pool.arrays(x, ids=names), dict(zip(names, y.tolist(), strict=True))


def learner(tmp_path, *, partial, **choices):
    pool, _ = items()
    network = aw.nets.encoded(Doubled(), aw.nets.on_axes(8, 3))
    told = {"initial": 9, "initial_select": "typiclust", "acquire": "margin", "batch": 5, "budget": 30}
    options = {**told, "posterior": "modal", "classes": 3, **choices}
    return aw.Learner(network, pool=pool, store=tmp_path / "run.db", partial=partial, **options)


def answer(ours):
    _, labels = items()
    ours.tell({question.id: labels[question.id] for question in ours.ask()})


def test_the_first_question_waits_for_few_items_and_comes_from_them(tmp_path):
    Doubled.seen = 0
    with learner(tmp_path, partial=True) as ours:
        asked = [question.id for question in ours.ask()]
        first = encoding_order(list(ours.store.ids()))[: loop_axes.FIRST]
        assert len(asked) == 9
        assert set(asked) <= set(first)
        [noted] = ours.store.facts(Encoded)
    assert (noted.round, noted.count) == (0, loop_axes.FIRST)
    assert Doubled.seen < COUNT
    Doubled.seen = 0
    (tmp_path / "whole").mkdir()
    with learner(tmp_path / "whole", partial=False) as ours:
        ours.ask()
    assert Doubled.seen >= COUNT  # the control: without it all are encoded first


def test_what_was_encoded_meanwhile_is_seen_by_the_next_round_and_its_axes(tmp_path):
    with learner(tmp_path, partial=True) as ours:
        answer(ours)
        pool = ours.pool
        for step in aw.pool.encode_ahead(pool):
            if step.encoded >= 120:
                break
        ours.ask()
        zero, one = ours.store.facts(Encoded)
        assert (one.round, one.count) == (1, step.encoded)
        order = encoding_order(list(ours.store.ids()))[: step.encoded]
        axes = fit_axes(pool.read(order).inputs)
        assert one.sha256 == axes.digest != zero.sha256
        own = axes_of(ours.fitted.network)
        torch.testing.assert_close(own.directions[:, : axes.directions.shape[1]], axes.directions.float())
        asked = [fact.id for fact in ours.store.facts(Question) if fact.round == 1]
        assert set(asked) <= set(order)
        assert ours.store.facts(Asked)[-1].scored == step.encoded - 9


def test_a_round_that_was_interrupted_goes_on_with_the_items_it_had(tmp_path, monkeypatch):
    def broken(*_, **__):
        raise KeyboardInterrupt

    with learner(tmp_path, partial=True) as ours:
        answer(ours)
        with monkeypatch.context() as cut:
            cut.setattr("askwise.loop.models.fit", broken)
            with pytest.raises(KeyboardInterrupt):
                ours.ask()
        noted = ours.store.facts(Encoded)[-1]
        list(aw.pool.encode_ahead(ours.pool))
    with learner(tmp_path, partial=True) as ours:
        ours.ask()
        after = [fact for fact in ours.store.facts(Encoded) if fact.round == 1]
        assert after == [noted]
        asked = [fact.id for fact in ours.store.facts(Question) if fact.round == 1]
        assert set(asked) <= set(encoding_order(list(ours.store.ids()))[: noted.count])


def test_when_all_that_is_encoded_was_asked_some_more_is(tmp_path):
    choices = {"initial": 0, "initial_select": None, "acquire": "random", "batch": 50, "budget": COUNT}
    with learner(tmp_path, partial=True, **choices) as ours:
        for _ in range(3):
            answer(ours)
        counts = [fact.count for fact in ours.store.facts(Encoded)]
        assert ours.status().counts.labelled > loop_axes.FIRST
    assert counts == sorted(counts)
    assert counts[0] == loop_axes.FIRST < counts[-1]


def test_axes_are_fitted_again_only_at_their_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(loop_axes, "_STEPS", (100, 70))
    found = []
    with learner(tmp_path, partial=True) as ours:
        for count in (64, 80, 99, 100, 150, COUNT):
            axes = loop_axes._axes(ours.setting, count, room=8)
            found.append((axes.digest, ours.setting.axes[0]))
    assert [step for _, step in found] == [64, 70, 70, 100, 100, COUNT]
    assert len({digest for digest, _ in found}) == 4


def test_a_bad_item_does_not_stop_the_count(tmp_path):
    x = torch.randn(100, 8, generator=torch.Generator().manual_seed(0))
    names = [f"i{n:03d}" for n in range(100)]
    bad = encoding_order(names)[5]
    x[names.index(bad)] = torch.nan
    network = aw.nets.encoded(Doubled(), aw.nets.on_axes(8, 3))
    with aw.Learner(
        network, pool=aw.pool.arrays(x, ids=names), classes=3, posterior="modal", partial=True, initial=9
    ) as ours:
        asked = [question.id for question in ours.ask()]
        assert len(asked) == 9
        assert bad not in asked
        assert ours.store.facts(Encoded)[-1].count >= loop_axes.FIRST


def test_a_page_asks_about_what_is_encoded_and_encodes_nothing_but_the_first_items(tmp_path):
    with learner(tmp_path, partial=False) as ours:
        live, pool = ours.live(), ours.pool
        Doubled.seen = 0
        blind = [question.id for question in live.step().asked]
        assert blind == encoding_order(list(ours.store.ids()))[:BLIND]  # those that are encoded first
        assert Doubled.seen == 0  # nobody waits for the encoder
        assert live.step() is None  # the control: while nothing is encoded no choice can be made
        for step in aw.pool.encode_ahead(pool, seed=0):
            if step.encoded >= 100:
                break
        Doubled.seen = 0
        turn = live.step()
        assert Doubled.seen <= 32  # one pass, the proof of what is kept
        order = encoding_order(list(ours.store.ids()))[: step.encoded]
        assert {question.id for question in turn.asked} <= set(order)
        _, labels = items()
        ours.tell({question.id: labels[question.id] for question in turn.asked})
        live.step()
        assert {fact.round: fact.count for fact in ours.store.facts(Encoded)} == dict.fromkeys(
            (0, 1), step.encoded
        )
        list(aw.pool.encode_ahead(pool, seed=0))
        answer(ours)
        live.step()
        assert ours.store.facts(Encoded)[-1].count == COUNT


def test_first_questions_that_test_come_from_what_is_encoded_too(tmp_path):
    with learner(tmp_path, partial=True, testing=0.3, region=0.3) as ours:
        ours.ask()
        asked = ours.store.facts(Question)
        first = encoding_order(list(ours.store.ids()))[: loop_axes.FIRST]
        kept = ours.pool.kept(list(ours.store.ids()))
    assert {question.kind for question in asked} == {"learn", "test"}
    assert {question.id for question in asked} <= set(first)
    assert int(kept.sum()) == loop_axes.FIRST  # nothing else was encoded for them


def test_no_model_says_how_good_it_is_before_all_items_to_test_on_are_encoded(tmp_path):
    _, labels = items()
    with learner(tmp_path, partial=False, testing=0.3, region=0.3) as ours:
        live = ours.live()
        for step in aw.pool.encode_ahead(ours.pool):
            if step.encoded >= 100:
                break
        live.step()
        for _ in range(3):
            ours.tell({question.id: labels[question.id] for question in live.open()[:4]})
            turn = live.step()
        assert turn.fitted is not None
        assert "testing" not in turn.fitted.metrics
        for _ in aw.pool.encode_ahead(ours.pool):
            pass
        ours.tell({question.id: labels[question.id] for question in live.open()[:2]})
        turn = live.step()
        assert "testing" in turn.fitted.metrics  # the control: now the whole region is encoded


def test_a_look_for_features_costs_by_what_is_new_and_not_by_the_pool(tmp_path, monkeypatch):
    with learner(tmp_path, partial=False) as ours:
        live, pool = ours.live(), ours.pool
        looked, own = [], pool.kept
        monkeypatch.setattr(pool, "kept", lambda ids: looked.extend(ids) or own(ids))
        live.step()
        for step in aw.pool.encode_ahead(pool, seed=0):
            if step.encoded >= 96:
                break
        live.step()
        assert live.encoded() == (96, COUNT)
        looked.clear()
        live.step()
        assert len(looked) <= loop_axes._LOOKED  # nothing is new
        list(aw.pool.encode_ahead(pool, seed=0))
        looked.clear()
        live.step()
        assert live.encoded() == (COUNT, COUNT)
        assert len(looked) == COUNT - 96  # what is new, each once
        looked.clear()
        live.step()
        assert looked == []
