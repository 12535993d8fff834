"""What objects show in the cell of a notebook."""

import pytest
import torch

import askwise as aw
from askwise.markup import card, framed
from askwise.report import Content, Curve


@pytest.fixture
def data():
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    return x, (x[:, 0] > 0).long()


def test_a_model_shows_its_posterior_and_how_it_learned(data):
    fitted = aw.fit(aw.nets.mlp(3, 2, hidden=(4,)), data, training=aw.Training(epochs=2), seed=0)
    shown = fitted._repr_html_()
    assert "<strong>Fitted</strong>" in shown
    assert "bbb" in shown
    assert "26 weights" in shown
    assert "2, the last at a loss of" in shown


def test_a_prediction_shows_its_first_items(data):
    fitted = aw.fit(aw.nets.mlp(3, 2, hidden=(4,)), data, training=aw.Training(epochs=1), seed=0)
    shown = aw.predict(fitted, data[0], draws=5)._repr_html_()
    assert "Prediction of 40 items, mean [40, 2]" in shown
    assert shown.count("<tr>") == 3 + 1 + 10


def test_a_learner_shows_how_far_it_is_and_hostile_classes_stay_text(data):
    network = aw.nets.mlp(3, 2, hidden=(4,))
    learner = aw.Learner(network, pool=data[0], classes=["<script>x</script>", "dog"], batch=3, seed=0)
    learner.ask()
    shown = learner._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "0 of 100" in shown
    assert "wait for 3 answers" in shown


def test_a_report_is_framed_and_may_run_nothing():
    shown = Content(curves=[Curve("<b>", [0], [10], [[0.5]])])._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert 'sandbox=""' in shown


def test_text_in_a_card_is_escaped_and_empty_facts_are_left_out():
    shown = card("<i>", [("a", "<b>"), ("none", None), ("empty", "")])
    assert "&lt;i&gt;" in shown
    assert "&lt;b&gt;" in shown
    assert "none" not in shown
    assert "empty" not in shown
    assert "<p>" not in framed("<p>")
