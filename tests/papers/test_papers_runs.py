"""The runs of the papers on invented items of the right form: what they keep, and that seeds are paired."""

from types import SimpleNamespace

import pytest
import torch

from askwise.encoders import SentenceEncoder
from askwise.encoders.vectors import Words, WordVectors, key
from askwise.nets import embed
from askwise.papers import PAPERS, Place, kirsch2019, loustau2023, shridhar2019
from askwise.papers.alvarez import lenet
from askwise.papers.curves import plan_of
from askwise.papers.gal2017 import skin, two_digits
from askwise.papers.rounds import first_items
from askwise.runs.build import learner


def quick(paper: str, name: str):
    return next(entry for entry in PAPERS[paper].entries(quick=True) if entry.name == name)


def some(count: int, *shape: int, classes: int = 2):
    rng = torch.Generator().manual_seed(count)
    y = torch.arange(count) % classes
    x = torch.rand(count, *shape, generator=rng) + 0.5 * y.view(-1, *[1] * len(shape)) / classes
    return x, y


def test_skin_lesions_have_an_auc_at_every_number_of_labels(monkeypatch, tmp_path):
    monkeypatch.setattr(skin, "lesions", lambda _: (*some(520, 16), *some(60, 16)))
    found = {}
    for name in ("BALD", "uniform"):
        one = quick("gal2017", f"skin, {name}")
        settings = {**one.settings, "training": {**one.settings["training"], "min_steps": 10}}
        found[name] = one.run(settings, 3, Place(tmp_path))
        assert found[name]["labels"] == [100, 200, 300, 400, 500]
        assert all(0 <= value <= 1 for value in found[name]["auc"])
    assert found["BALD"]["auc"][0] == found["uniform"]["auc"][0]  # the first labels in common
    assert found["BALD"]["auc"][1:] != found["uniform"]["auc"][1:]


def test_mbr_and_chance_start_from_the_same_labels_of_two_digits(tmp_path):
    names = ("MBR", "harmonic functions, random")
    ours, other = (quick("gal2017", f"two digits, {name}") for name in names)
    first, second = (one.run(one.settings, 0, Place(tmp_path)) for one in (ours, other))
    assert first["labels"] == second["labels"] == [10, 20, 30, 40, 50, 60]
    assert first["accuracy"][0] == second["accuracy"][0]
    assert first["accuracy"][-1] > 0.9


def test_a_network_and_a_graph_begin_with_the_same_labels_of_two_digits(tmp_path):
    graph, network = (quick("gal2017", f"two digits, {name}").settings for name in ("MBR", "BALD"))
    place, first = Place(tmp_path), two_digits._first
    known = two_digits._material(network, place)
    with learner(plan_of(network, 3), known) as ours:
        begun = [list(known.pool.ids).index(name) for name in ours.plan.initial.ids]
    assert first(graph, 3, place) == begun
    assert first(graph, 4, place) != begun


def test_variation_ratios_of_one_network_are_not_counted_by_its_one_vote():
    figure = {
        name: quick("gal2017", f"20 + 10, authors', 200 steps, {name}")
        for name in ("VR, votes", "VR, mean, point")
    }
    cells = {
        name: quick("zeng2018", f"{name}, Var Ratios").settings["plan"] for name in ("CNN", "MC dropout")
    }
    assert figure["VR, votes"].settings["plan"]["acquire_options"] == {"votes": True}
    assert "acquire_options" not in figure["VR, mean, point"].settings["plan"]
    assert cells["MC dropout"]["acquire_options"] == {"votes": True}
    assert cells["CNN"]["acquire_options"] == {"votes": False}


def test_repeated_items_are_copies_with_noise_and_the_same_label():
    known = kirsch2019.pool_of("digits", None, 3)
    ids = list(known.pool.ids)
    count = len(ids) // 3
    assert len(set(ids)) == len(ids)
    one, two = ids[5], ids[5 + count]
    assert known.labels[one] == known.labels[two]
    rows = known.pool.read([one, two]).inputs
    assert 0 < (rows[0] - rows[1]).std() < 0.3


def test_dropout_is_where_the_lecture_puts_it():
    def dropouts(where):
        return [name for name, _ in lenet.network(where, size=28).named_children() if "dropout" in name]

    assert dropouts("none") == []
    assert dropouts("end") == ["dropout4"]
    assert len(dropouts("all")) == 4


def test_one_training_predicts_by_mc_dropout_and_by_weight_averaging(monkeypatch, tmp_path):
    monkeypatch.setattr(lenet, "images", lambda *_: (*some(64, 1, 28, 28), *some(40, 1, 28, 28)))
    for where in ("none", "all"):
        one = quick("alvarez", f"LeNet, dropout {where}, a quarter")
        settings = {**one.settings, "stages": 2, "training": {"epochs": 1}}
        found = one.run(settings, 0, Place(tmp_path))
        assert sum(found["filters"]) == pytest.approx(1.0, abs=0.01)
        assert len(found["filter_edges"]) == len(found["filters"]) + 1
        same = found["nll_curve"]["mc"] == pytest.approx(found["nll_curve"]["off"])
        assert same == (where == "none")  # without dropout both are one network


def test_uncertainty_and_size_are_kept_stage_by_stage(monkeypatch, tmp_path):
    monkeypatch.setattr(shridhar2019, "images", lambda *_: (*some(64, 1, 28, 28), *some(30, 1, 28, 28)))
    one = quick("shridhar2019", "MNIST, LeNet-5, Bayesian, local")
    found = one.run({**one.settings, "stages": 2, "draws": 3}, 0, Place(tmp_path))
    assert found["epochs"] == [4, 8]
    assert found["accuracy"] == found["accuracy_by_epoch"][-1]
    assert found["size"] == pytest.approx(2.0, abs=0.05)
    assert found["epistemic"] > 0


def test_texts_are_measured_by_their_tags(monkeypatch, tmp_path):
    (x, y), (test_x, test_y) = some(320, 12, classes=6), some(50, 12, classes=6)
    tags, test_tags = (torch.nn.functional.one_hot(one, 6).float() for one in (y, test_y))
    tags[:, 0] = 1.0
    test_tags[::2, 0] = 1.0
    monkeypatch.setattr(loustau2023.texts, "tagged_texts", lambda *_, **__: (x, tags, test_x, test_tags))
    for name in ("top-u, VOGN", "difference, point"):
        one = quick("loustau2023", f"XED, French, {name}")
        found = one.run({**one.settings, "training": {"epochs": 2}}, 0, Place(tmp_path))
        assert found["labels"] == [100, 200, 300]
        assert found["top_5"][-1] >= found["top_1"][-1]
        assert -1 <= found["entropy_and_tags"] <= 1


def test_the_encoder_of_texts_learns_from_those_labelled_at_the_start_and_from_no_other(monkeypatch):
    words = ["bon", "mal", "oui", "non"]
    lines = [f"{words[at % 4]} {words[at // 4 % 4]}" for at in range(40)]
    tags = torch.stack([torch.tensor([float(word in line.split()) for word in words]) for line in lines])
    table = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))

    def encoder(_name):
        rows = Words({key(word): row for row, word in enumerate(words)})
        return SimpleNamespace(module=SentenceEncoder(WordVectors(table), rows, window=8))

    def features(tags):
        data = SimpleNamespace(train_x=lines, train_y=tags, test_x=lines[:8], test_y=tags[:8])
        monkeypatch.setattr(loustau2023.texts, "load", lambda *_, **__: data)
        how = {**quick("loustau2023", "XED, French, random, point").settings["encoder"], "epochs": 20}
        thawing = loustau2023.texts.Thawing(**how)
        return loustau2023.texts.tagged_texts.__wrapped__("xed", None, 40, 8, first=10, seed=0, how=thawing)

    monkeypatch.setattr(loustau2023.texts, "load_encoder", encoder)
    learned = features(tags)
    assert torch.equal(learned[1], tags)
    assert torch.equal(learned[0][:8], learned[2])  # the same texts, by the same encoder
    raw = embed(encoder("french").module, lines)
    assert (learned[0] - raw).abs().max() > 0.01
    first = first_items(40, 10, seed=0)
    others = torch.ones(40, dtype=torch.bool).index_fill(0, first, False)
    assert torch.equal(features(torch.where(others[:, None], 1 - tags, tags))[0], learned[0])
    assert not torch.allclose(features(torch.where(others[:, None], tags, 1 - tags))[0], learned[0])


def test_photos_go_on_from_the_last_rounds_weights(monkeypatch, tmp_path):
    monkeypatch.setattr(loustau2023.photos, "images", lambda *_: (*some(80, 3, 32, 32), *some(20, 3, 32, 32)))
    one = quick("loustau2023", "CIFAR-10, top-u, VOGN")
    settings = {**one.settings, "first": 20, "batch": 20, "budget": 60, "training": {"epochs": 1}}
    found = one.run(settings, 0, Place(tmp_path))
    assert found["labels"] == [20, 40, 60]
