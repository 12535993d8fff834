"""Posteriors side by side on tags, numbers and pixels: each is measured, or refuses in one line."""

import json

import pytest
import torch
from tiny_sets import SMALL, TEST, TINY, invented, tiny_encoder

import askwise as aw
from askwise.bayes.posteriors import POSTERIORS
from askwise.compare import Job, columns, jobs, make, material, notes, outcome, run, write
from askwise.compare.material import network
from askwise.compare.ood import ood_items, ood_name, shuffled
from askwise.compare.trial import trial
from askwise.errors import InputError
from askwise.seeding import derive


@pytest.fixture(autouse=True)
def _small_data(monkeypatch):
    from askwise.compare import ood

    monkeypatch.setattr(material, "load", invented)
    monkeypatch.setattr(material.encoders, "load", tiny_encoder)
    monkeypatch.setattr(ood, "load", _nothing_is_here)


def _nothing_is_here(name, **_):
    raise InputError(f"{name} is not here")


def protocol(data):
    return make(data, **TINY[data], **SMALL)


@pytest.mark.parametrize("data", TINY)
def test_every_posterior_is_measured_on_the_task_or_refuses_in_one_line(data, tmp_path):
    own = protocol(data)
    task = own.task
    found = run(own, jobs(list(POSTERIORS), [0]), kept=tmp_path / "rows.jsonl")
    measured = {row["posterior"] for row in found.rows}
    assert measured | found.refused.keys() == set(POSTERIORS)
    assert not measured & found.refused.keys()
    assert {"point", "mc_dropout", "bbb", "ensemble"} <= measured
    for row in found.rows:
        assert {column.key for column in columns(task.name)} <= row.keys()
        assert set(task.measures) <= row.keys()
        assert 0 <= row["auroc_total"] <= 1
    for why in found.refused.values():
        assert "\n" not in why
    told = outcome(own, found, command="askwise compare")
    paths = write(told, tmp_path, stem="compare")
    text = paths["md"].read_text()
    assert all(f"| {name} |" in text for name in measured)
    assert all(f"{name} refused: {why}." in text for name, why in found.refused.items())
    json.loads(paths["json"].read_text())
    assert paths["png"].stat().st_size > 1000
    again = run(own, jobs(list(measured), [0]), kept=tmp_path / "rows.jsonl")
    assert len(again.rows) == len(measured)


def test_the_measures_of_numbers_are_those_of_the_model_in_their_units():
    own = protocol("uci/energy")
    items = material.material(own)
    found = trial(own, Job("laplace", 3), items)
    rng = torch.Generator().manual_seed(derive(3, "compare", "labels"))
    chosen = torch.randperm(len(items.train[0]), generator=rng)[:20]
    fitted = aw.fit(
        network(own, items),
        (items.train[0][chosen], items.train[1][chosen]),
        posterior="laplace",
        task="regression",
        training=own.training(),
        start="scratch",
        seed=derive(3, "compare", "fit"),
    )
    said = aw.predict(fitted, items.test[0], draws=3, seed=derive(3, "compare", "draws"))
    away = (said.mean - items.test[1]).abs()
    assert found["rmse"] == pytest.approx(away.square().mean().sqrt().item(), rel=1e-4)
    assert found["inside"] == pytest.approx((away <= 1.96 * said.total.sqrt()).double().mean().item())
    assert found["rmse"] < 1  # the targets lie around 0.98, the columns of the table around 7


def test_small_variances_of_numbers_are_uncertainty_all_the_same():
    """In the units of the targets they are below what is taken for rounding of nats."""
    own = protocol("uci/energy")
    found = trial(own, Job("ensemble", 0), material.material(own))
    assert found["auroc_epistemic"] != 0.5


def test_who_falls_behind_in_an_error_is_named_in_percent():
    rows = [_row("point", 2.0), _row("bbb", 2.1), _row("laplace", 2.03)]
    told = outcome(protocol("uci/energy"), material_of(rows), command="")
    assert told["behind"] == {"bbb": pytest.approx(5.0)}
    assert notes(told) == ["More than two percent of RMSE above point: bbb (5.0)."]


def material_of(rows):
    from askwise.compare import Trials

    return Trials(rows, {})


def _row(name, rmse):
    values = {column.key: 1.0 for column in columns("regression")}
    return {"posterior": name, "seed": 0, "commit": "abc", **values, "rmse": rmse}


def test_shuffled_rows_have_the_same_columns_in_other_company():
    rows = torch.arange(40.0).view(20, 2)
    found = shuffled(rows)
    assert torch.equal(found.sort(dim=0).values, rows)
    assert not torch.equal(found, rows)
    assert (found[:, 1] - found[:, 0] != 1).any()
    assert torch.equal(found, shuffled(rows))


def test_other_data_of_rows_are_shuffled_unless_a_set_is_here(tmp_path):
    assert ood_name("uci/energy", None, data_dir=tmp_path) == "shuffled"
    assert ood_name("goemotions", None, data_dir=tmp_path) == "shuffled"
    assert ood_name("camvid", None, data_dir=tmp_path) == "photos"


def test_pictures_cannot_stand_beside_rows():
    with pytest.raises(InputError, match="photos cannot stand beside rows of 8 numbers; choose 'shuffled'"):
        ood_items("photos", torch.zeros(4, 8))
    with pytest.raises(InputError, match="items of uci/energy are no texts, and those of xed are"):
        material.material(make("xed", **TINY["xed"], **SMALL, ood="uci/energy"))


def test_texts_are_other_data_to_texts():
    items = material.material(make("xed", **TINY["xed"], **SMALL, ood="goemotions"))
    assert items.ood.shape == (TEST, 6)


def test_more_labels_than_a_table_has_are_refused():
    with pytest.raises(InputError, match="uci/energy has 30 labels to learn from, not 200"):
        material.material(make("uci/energy", **SMALL))
