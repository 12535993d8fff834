"""The smaller network computes what the zeroed one does; what cannot be followed is refused by name."""

import copy
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import askwise as aw
from askwise.bayes.fitted import Fitted
from askwise.bayes.program.build import plain_pass
from askwise.errors import InputError
from askwise.tasks import named


class Own(nn.Module):
    """Python of one's own: functions instead of modules, and a layer that is never called."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 6, 3, padding=1)
        self.idle, self.head = nn.Conv2d(1, 4, 3), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        h = F.max_pool2d(self.conv1(x).relu(), 2)
        return self.head(F.gelu(self.conv2(h)).mean(dim=(2, 3)))


class TwoReaders(nn.Module):
    """One layer read by two others of different kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.left, self.right = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 3, 6), nn.Linear(4 * 36, 3)

    def forward(self, x: Tensor) -> Tensor:
        h = F.softplus(self.body(x))
        return self.left(h).flatten(1) + self.right(h.flatten(1))


class Residual(nn.Module):
    """A sum of two branches ties their channels together."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.inner = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.outer, self.head = nn.Conv2d(4, 4, 3, padding=1), nn.Linear(4 * 64, 3)

    def forward(self, x: Tensor) -> Tensor:
        h = self.stem(x).relu()
        return self.head((h + self.outer(self.inner(h).relu())).relu().flatten(1))


class Joined(nn.Module):
    """Two layers side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Conv2d(1, 2, 3), nn.Conv2d(1, 2, 3)
        self.head = nn.Linear(4 * 36, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.cat([self.left(x), self.right(x)], dim=1).relu().flatten(1))


class Again(nn.Module):
    """One layer called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.conv, self.head = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 4, 3), nn.Linear(4 * 4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.conv(self.conv(self.stem(x).relu()).relu()).relu().flatten(1))


class Fixed(nn.Module):
    """The width of a layer written into the code."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = nn.Conv2d(1, 4, 3), nn.Linear(4 * 36, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.conv(x).relu().view(-1, 144))


def lenet(activation: Callable[[], nn.Module] = nn.ReLU, *, padding: int = 0) -> nn.Module:
    side = 2 if padding else 1
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        activation(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 6, 3, padding=padding),
        activation(),
        nn.MaxPool2d(2),
        nn.Dropout(0.5),
        nn.Flatten(),
        nn.Linear(6 * side * side, 8),
        activation(),
        nn.Linear(8, 3),
    )


def normalised() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Conv2d(4, 6, 3),
        nn.BatchNorm2d(6, affine=False),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.BatchNorm1d(24),
        nn.Linear(24, 3),
    )


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "relu": lenet,
    "softplus": lambda: lenet(nn.Softplus),
    "sigmoid": lambda: lenet(nn.Sigmoid),
    "own": Own,
    "gal": lambda: aw.nets.gal_cnn(size=8, classes=3),
}


def model(network: nn.Module, posterior=None) -> Fitted:
    """Weights, statistics and scales from a seed, no training."""
    config = posterior or aw.bbb(all=True)
    rng = torch.Generator().manual_seed(5)
    for module in network.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_(generator=rng)
            module.running_var.uniform_(0.5, 2, generator=rng)
    weights = {
        f"{name}.weight": module.weight
        for name, module in network.named_modules()
        if isinstance(module, nn.Linear | nn.Conv1d | nn.Conv2d)
    }
    with torch.no_grad():
        for weight in weights.values():
            weight.normal_(generator=rng).mul_(0.3)
    state = {n: torch.randn(w.shape, generator=rng) - 3 for n, w in weights.items() if config.name == "bbb"}
    return Fitted(network.eval(), config, named("classification"), state, ())


def items(*shape: int) -> Tensor:
    return torch.rand(7, *(shape or (1, 8, 8)), generator=torch.Generator().manual_seed(0))


def removed(fitted: Fitted, layer: str, by: str, fraction: float) -> Tensor:
    """The filters with the lowest scores, by hand."""
    mean = fitted.network.get_submodule(layer).weight.detach()
    score = mean.abs()
    if by == "snr":
        score = score / F.softplus(fitted.state[f"{layer}.weight"])
    return score.flatten(1).mean(dim=1).argsort()[: int(fraction * len(mean))].sort().values


def with_zeros(network: nn.Module, gone: dict[str, Tensor], norms: dict[str, str]) -> nn.Module:
    """A copy whose filters, and the affine norms after them, are zero."""
    own = copy.deepcopy(network)
    with torch.no_grad():
        for layer, filters in gone.items():
            for name in (layer, norms.get(layer)):
                for parameter in own.get_submodule(name).parameters() if name else ():
                    blocks = len(parameter) // len(network.get_submodule(layer).weight)
                    parameter[(filters[:, None] * blocks + torch.arange(blocks)).flatten()] = 0
    return own


def convolutions(network: nn.Module) -> list[str]:
    return [n for n, module in network.named_modules() if isinstance(module, nn.Conv2d) and n != "idle"]


@pytest.mark.parametrize("by", ["snr", "l1"])
@pytest.mark.parametrize("name", NETWORKS)
def test_without_its_lowest_filters_a_network_computes_what_it_does_with_them_at_zero(name, by):
    fitted = model(NETWORKS[name]())
    small = aw.prune_filters(fitted, items(), by=by, amount=0.5)
    gone = {layer: removed(fitted, layer, by, 0.5) for layer in convolutions(fitted.network)}
    zeroed = with_zeros(fitted.network, gone, {})
    wanted = zeroed(items())
    assert (small.network(items()) - wanted).abs().max() <= 1e-6 * max(1.0, wanted.abs().max().item())
    assert (small.network(items()) - fitted.network(items())).abs().max() > 1e-3  # a control
    for layer, filters in gone.items():
        assert small.network.get_submodule(layer).out_channels == len(filters)  # half of an even number


def test_a_layer_with_two_readers_is_cut_out_of_both():
    fitted = model(TwoReaders())
    small = aw.prune_filters(fitted, items(), layers=["body"], amount=0.25)
    zeroed = with_zeros(fitted.network, {"body": removed(fitted, "body", "snr", 0.25)}, {})
    wide = items().double()  # so that rounding is out of the question
    torch.testing.assert_close(small.network.double()(wide), zeroed.double()(wide), rtol=0, atol=1e-6)
    assert [small.network.left.in_channels, small.network.right.in_features] == [3, 108]


def test_batch_norms_lose_the_same_channels_before_and_after_flattening():
    fitted = model(normalised())
    small = aw.prune_filters(fitted, items(), amount=0.5)
    gone = {layer: removed(fitted, layer, "snr", 0.5) for layer in ("0", "3")}
    zeroed = with_zeros(fitted.network, gone, {"0": "1", "3": "7"})
    wide = items().double()  # so that rounding is out of the question
    torch.testing.assert_close(small.network.double()(wide), zeroed.double()(wide), rtol=0, atol=1e-6)
    assert [small.network[at].num_features for at in (1, 4, 7)] == [2, 3, 12]


def test_dense_units_go_too_when_asked():
    fitted = model(lenet(nn.Softplus))
    assert aw.prune_filters(fitted, items()).network[8].out_features == 8
    small = aw.prune_filters(fitted, items(), dense=True, amount=0.5)
    gone = {layer: removed(fitted, layer, "snr", 0.5) for layer in ("0", "3", "8")}
    torch.testing.assert_close(
        small.network(items()), with_zeros(fitted.network, gone, {})(items()), rtol=0, atol=1e-6
    )
    assert (small.network[8].out_features, small.network[10].in_features) == (4, 4)
    assert small.network[10].out_features == 3  # outputs are never removed


def test_signals_of_one_dimension_are_followed():
    network = nn.Sequential(
        nn.Conv1d(2, 4, 3), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(4, 4, 3), nn.Flatten(), nn.Linear(12, 3)
    )
    fitted, x = model(network), items(2, 12)
    small = aw.prune_filters(fitted, x, layers=["0"])
    zeroed = with_zeros(network, {"0": removed(fitted, "0", "snr", 0.5)}, {})
    torch.testing.assert_close(small.network(x), zeroed(x), rtol=0, atol=1e-6)


def test_a_draw_of_the_smaller_network_is_the_rest_of_a_draw():
    fitted = model(lenet())
    small = aw.prune_filters(fitted, items(), amount=0.5)
    gone = {layer: removed(fitted, layer, "snr", 0.5) for layer in ("0", "3")}
    stays = {
        layer: [c for c in range(4 + 2 * (layer == "3")) if c not in filters]
        for layer, filters in gone.items()
    }
    whole = fitted.posterior.draw(fitted.network, fitted.state, numbers=range(2), seed=0, dropouts=())
    rest = {
        "0.weight": whole["0.weight"][:, stays["0"]],
        "3.weight": whole["3.weight"][:, stays["3"]][:, :, stays["0"]],
        "8.weight": whole["8.weight"][:, :, stays["3"]],
        "10.weight": whole["10.weight"],
    }
    silent = {name: tensor.clone() for name, tensor in whole.items()}
    for layer, filters in gone.items():
        silent[f"{layer}.weight"][:, filters] = 0
    zeroed = with_zeros(fitted.network, gone, {})
    for number in range(2):
        found = plain_pass(small.network, (), rest, number, items())
        torch.testing.assert_close(found, plain_pass(zeroed, (), silent, number, items()), rtol=0, atol=1e-6)
    for name, scales in small.state.items():
        assert scales.shape == rest[name][0].shape
    assert torch.equal(small.state["0.weight"], fitted.state["0.weight"][stays["0"]])


def test_a_filter_of_noise_goes_before_a_small_certain_one():
    fitted = model(lenet())
    with torch.no_grad():
        fitted.network[0].weight[2] = 0.01
        fitted.state["0.weight"][2] = -12.0
    kept = {by: aw.prune_filters(fitted, items(), by=by, layers=["0"], amount=0.25) for by in ("snr", "l1")}
    assert (kept["snr"].network[0].weight == 0.01).any()
    assert not (kept["l1"].network[0].weight == 0.01).any()


@pytest.mark.parametrize("posterior", [aw.point(), aw.mc_dropout()])
def test_any_posterior_predicts_with_the_smaller_network(posterior):
    small = aw.prune_filters(model(lenet(), posterior), items(), by="l1", amount=0.5, dense=True)
    found = aw.predict(small, items(), draws=3)
    assert found.mean.shape == (7, 3)
    assert (found.epistemic.max() > 1e-6) == (posterior.name == "mc_dropout")


def test_the_original_is_untouched_and_one_filter_always_stays():
    fitted = model(lenet())
    before = fitted.digest()
    small = aw.prune_filters(fitted, items(), amount=0.99)
    assert fitted.digest() == before
    assert small.network[0].out_channels == small.network[3].out_channels == 1
    assert torch.equal(
        aw.prune_filters(fitted, items(), amount=0.0).network(items()), fitted.network(items())
    )


def test_filters_can_be_removed_again_and_after_unstructured_pruning():
    fitted = aw.prune(model(lenet()), amount=0.3)
    small = aw.prune_filters(aw.prune_filters(fitted, items(), amount=0.25), items(), amount=0.34)
    assert [small.network[0].out_channels, small.network[3].out_channels] == [2, 4]
    assert aw.sparsity(small).total > 0


def test_a_network_of_the_house_comes_back_from_disk_with_its_recipe(tmp_path: Path):
    fitted = model(aw.nets.gal_cnn(size=8, classes=3))
    small = aw.prune_filters(fitted, items(), amount=0.75)
    small.save(tmp_path / "model")
    again = aw.load(tmp_path / "model")
    assert again.digest() == small.digest()
    assert again.network.conv2.out_channels == 8
    assert torch.equal(aw.log_probs(again, items(), draws=3), aw.log_probs(small, items(), draws=3))
    assert fitted.network.recipe["name"] == "gal_cnn"


def test_a_network_of_ones_own_is_asked_for_and_can_be_narrowed(tmp_path: Path):
    small = aw.prune_filters(model(lenet()), items())
    small.save(tmp_path / "model")
    with pytest.raises(InputError, match="a network of your own; pass it"):
        aw.load(tmp_path / "model")
    shapes = {name: list(tensor.shape) for name, tensor in small.network.state_dict().items()}
    again = aw.load(tmp_path / "model", network=aw.nets.narrow(lenet(), shapes=shapes))
    assert again.digest() == small.digest()


def refusal(network: nn.Module, layers: Sequence[str] | None = None, posterior=None, **options) -> str:
    with pytest.raises(InputError) as caught:
        aw.prune_filters(model(network, posterior), items(), layers=layers, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_sums_and_joins_are_refused_by_the_layers_name():
    assert "'stem' cannot be followed through 'add'" in refusal(Residual())
    assert "'outer' cannot be followed through 'add'" in refusal(Residual(), ["outer"])
    assert "'left' cannot be followed through 'cat'" in refusal(Joined())


def test_the_inner_layer_of_a_residual_block_can_still_be_cut():
    fitted = model(Residual())
    small = aw.prune_filters(fitted, items(), layers=["inner"])
    zeroed = with_zeros(fitted.network, {"inner": removed(fitted, "inner", "snr", 0.5)}, {})
    wide = items().double()  # so that rounding is out of the question
    torch.testing.assert_close(small.network.double()(wide), zeroed.double()(wide), rtol=0, atol=1e-6)


def test_layers_with_groups_and_layers_called_twice_are_refused():
    grouped = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Conv2d(4, 4, 3, groups=2), nn.Flatten(), nn.Linear(64, 3))
    assert "'0' cannot be followed into '1.weight'" in refusal(grouped)
    assert "'1' cannot be followed: its convolution has groups" in refusal(grouped, ["1"])
    assert "'conv' cannot be followed: it is called more than once" in refusal(Again(), ["conv"])


def test_the_outputs_and_widths_fixed_in_code_are_refused():
    assert "'10' are the network's outputs" in refusal(lenet(), ["10"])
    assert "filters of conv cannot be removed: the network's own code counts on them" in refusal(Fixed())
    assert "'idle' cannot be followed: it is not called" in refusal(Own(), ["idle"])


def test_what_zero_becomes_is_refused_where_no_bias_can_stand_for_it():
    assert "zero does not stay zero" in refusal(lenet(nn.Softplus, padding=1), ["0"])
    bare = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Sigmoid(), nn.Flatten(), nn.Linear(144, 3, bias=False))
    assert "'3' has no bias" in refusal(bare)
    aw.prune_filters(model(lenet(nn.ReLU, padding=1)), items())  # a control: with relu it can


def test_wrong_wishes_are_refused_in_one_line():
    assert "amount is a fraction from 0 up to below 1, not 1.5" in refusal(lenet(), amount=1.5)
    assert "unknown criterion 'l2'" in refusal(lenet(), by="l2")
    assert "unknown layer '1'" in refusal(lenet(), ["1"])
    assert "point has no standard deviation" in refusal(lenet(), posterior=aw.point())
    assert "no layer whose filters can be removed" in refusal(nn.Sequential(nn.Flatten(), nn.Linear(64, 3)))
    with pytest.raises(InputError, match=r"at least one item \[N, ...\]; their shape is \[0, 1, 8, 8\]"):
        aw.prune_filters(model(lenet()), items()[:0])
    with pytest.raises(InputError, match="cannot take an input of shape"):
        aw.prune_filters(model(lenet()), items(3, 8, 8))
