"""The card of an exported model: Markdown with the front matter that Hugging Face reads."""

from pathlib import Path

import torch
import yaml
from torch import nn

import askwise as aw
from askwise.export.model import Card, written


def test_the_front_matter_is_yaml_and_tells_task_and_measures():
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    training = aw.Training(epochs=1, min_steps=2)
    model = aw.fit(
        nn.Sequential(nn.Linear(3, 2)), (x, (x[:, 0] > 0).long()), posterior="laplace", training=training
    )
    card = Card(
        name='pets: "mine"',
        data="photos/",
        items=20,
        labels={"cat": 10, "dog": 10},
        round=3,
        trained="laplace on 20 labels",
        draws=50,
        metrics={"test": {"accuracy": 0.875, "nll": 0.4, "confusion": [[1]]}},
    )
    text = written(card, model, Path("model"))
    _, front, body = text.split("---\n", 2)
    told = yaml.safe_load(front)
    assert (told["library_name"], told["pipeline_tag"]) == ("askwise", "tabular-classification")
    assert "laplace" in told["tags"]
    [index] = told["model-index"]
    assert index["name"] == 'pets: "mine"'
    measured = {one["metrics"][0]["type"]: one["metrics"][0]["value"] for one in index["results"]}
    assert measured == {"accuracy": 0.875, "nll": 0.4}
    assert all(one["dataset"]["name"] == "photos/" for one in index["results"])
    assert body.lstrip().startswith("# pets")
