import pytest
import torch

from askwise import nets
from askwise.bayes.posteriors import POSTERIORS
from askwise.bayes.program import dropout
from askwise.compare import DATA, Protocol, make
from askwise.compare.material import Material, network
from askwise.data import NAMES
from askwise.errors import InputError

SHAPES = {"digits": (1, 8, 8), "cifar10": (3, 32, 32), "camvid": (3, 45, 60)}


@pytest.mark.parametrize("data", DATA)
def test_every_data_set_has_a_network_with_dropout(data: str) -> None:
    assert data in NAMES
    own = make(data, ood="photos")
    kind = own.task.name
    rows = kind in ("multilabel", "regression")
    like = torch.zeros(1, *((8,) if rows else SHAPES.get(data, (1, 28, 28))))
    names = () if kind == "regression" else tuple("0123456789")
    items = Material((like, torch.zeros(1)), (like, torch.zeros(1)), like, names)
    made = network(own, items)
    assert dropout.find(made, like)
    wanted = {"regression": (1, 2), "segmentation": (1, 10, 45, 60)}
    assert made(like).shape == wanted.get(kind, (1, 10))


def test_a_network_is_named_with_its_options() -> None:
    found = make("digits", network="mlp, hidden=[8, 4], dropout=0.5, activation=relu")
    assert found.network == "mlp"
    assert found.network_options == {"hidden": [8, 4], "dropout": 0.5, "activation": "relu"}


def test_the_defaults_are_those_of_the_data_set(tmp_path) -> None:
    assert make("digits", data_dir=tmp_path) == Protocol()
    assert make("cifar10").network == "gal_cnn" in nets.NETWORKS


def test_one_kl_weight_is_for_all_posteriors_that_have_one() -> None:
    own, same = Protocol(), Protocol(kl_weight=1.0)
    weights = {name: getattr(same.posterior(name), "kl_weight", None) for name in POSTERIORS}
    assert {name for name, weight in weights.items() if weight is not None} == {"bbb", "vogn", "ivon", "vbll"}
    assert set(weights.values()) == {1.0, None}
    assert own.posterior("vogn").kl_weight < 1  # the control: a cold posterior by default
    assert all(own.posterior(name) == POSTERIORS[name]() for name in POSTERIORS)


BAD = {
    "an unknown data set": ({"data": "minst"}, "did you mean 'mnist'"),
    "an unknown network": ({"data": "digits", "network": "mpl"}, "did you mean 'mlp'"),
    "an option without a value": ({"data": "digits", "network": "mlp,dropout"}, "NAME,option=value"),
    "no labels": ({"data": "digits", "labels": 0}, "labels must be"),
    "no epochs": ({"data": "digits", "epochs": 0}, "epochs must be"),
    "no draws": ({"data": "digits", "draws": 0}, "draws must be"),
    "ood items of its own kind": ({"data": "digits", "ood": "digits"}, "not ood to itself"),
    "unknown ood items": ({"data": "digits", "ood": "fotos"}, "did you mean 'photos'"),
    "a weight that is none": ({"data": "digits", "kl_weight": 0.0}, "kl_weight must be above 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_compared_is_refused_before_anything_is_read(case: str) -> None:
    options, message = BAD[case]
    with pytest.raises(InputError, match=message) as caught:
        make(**options)
    assert "\n" not in str(caught.value)
