"""IVON is the published one, resumes to the bit and never leaves a perturbed model."""

import copy

import ivon as public
import pytest
import torch
from torch import Tensor, nn

import askwise as aw
from askwise.errors import InputError
from askwise.optim import IVON

HARD = {"lr": 0.1, "hess_init": 0.3, "betas": (0.8, 0.9), "weight_decay": 0.02}


def small(seed: int = 0) -> tuple[nn.Module, Tensor, Tensor]:
    rng = torch.Generator().manual_seed(seed)
    network = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))
    with torch.no_grad():
        for p in network.parameters():
            p.normal_(std=0.4, generator=rng)
    return network, torch.randn(24, 5, generator=rng), torch.randint(3, (24,), generator=rng)


def made(network: nn.Module, seed: int = 1, **options) -> IVON:
    rng = torch.Generator().manual_seed(seed)
    return IVON(network.parameters(), rng=rng, **{"count": 24, **HARD, **options})


def learn(optimizer: IVON, network: nn.Module, x: Tensor, y: Tensor, steps: int) -> None:
    for _ in range(steps):
        for _ in range(optimizer.samples):
            with optimizer.sampling():
                nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("clip", [float("inf"), 0.5])
def test_it_equals_the_public_package_on_the_same_noise(samples: int, clip: float, monkeypatch) -> None:
    network, x, y = small()
    other = copy.deepcopy(network)
    optimizer = made(network, samples=samples, clip_radius=clip)
    theirs = public.IVON(
        other.parameters(),
        lr=HARD["lr"],
        ess=24,
        hess_init=HARD["hess_init"],
        beta1=HARD["betas"][0],
        beta2=HARD["betas"][1],
        weight_decay=HARD["weight_decay"],
        mc_samples=samples,
        clip_radius=clip,
    )
    twin = torch.Generator().manual_seed(1)
    shapes = [p.shape for p in other.parameters()]

    def same_noise(count: int, **_: object) -> Tensor:  # theirs draws one long vector, ours tensor by tensor
        assert count == sum(shape.numel() for shape in shapes)
        return torch.cat([real(shape, generator=twin).flatten() for shape in shapes])

    real = torch.randn
    for _ in range(60):
        learn(optimizer, network, x, y, steps=1)
        monkeypatch.setattr(torch, "randn", same_noise)
        for _ in range(samples):
            with theirs.sampled_params(train=True):
                theirs.zero_grad()
                nn.functional.cross_entropy(other(x), y).backward()
        theirs.step()
        monkeypatch.undo()
    for mine, its in zip(network.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-6, atol=1e-6)
    hess = torch.cat([optimizer.state[p]["hess"].flatten() for p in network.parameters()])
    torch.testing.assert_close(hess, theirs.param_groups[0]["hess"], rtol=1e-5, atol=1e-6)
    assert (hess - HARD["hess_init"]).abs().max() > 0.1  # and it has gone somewhere


def test_other_noise_leads_elsewhere() -> None:
    ends = []
    for seed in (1, 2):
        network, x, y = small()
        learn(made(network, seed), network, x, y, steps=5)
        ends.append(network[0].weight.detach().clone())
    assert not torch.allclose(ends[0], ends[1], atol=1e-4)


def test_the_deviation_is_that_of_the_formula_and_of_the_samples() -> None:
    network, x, y = small()
    optimizer = made(network)
    learn(optimizer, network, x, y, steps=3)
    weight = network[0].weight
    hess = optimizer.state[weight]["hess"]
    torch.testing.assert_close(optimizer.std(weight), (24 * (hess + 0.02)) ** -0.5)
    mean, seen = weight.detach().clone(), []
    for _ in range(100):
        with optimizer.sampling():
            seen.append((weight.detach() - mean) / optimizer.std(weight))
    noise = torch.stack(seen)
    assert float(noise.std()) == pytest.approx(1.0, abs=0.05)
    assert float(noise.mean()) == pytest.approx(0.0, abs=0.08)


def test_saved_and_loaded_it_goes_on_to_the_bit(tmp_path) -> None:
    network, x, y = small()
    optimizer = made(network, samples=2)
    learn(optimizer, network, x, y, steps=4)
    torch.save([network.state_dict(), optimizer.state_dict()], tmp_path / "state")
    learn(optimizer, network, x, y, steps=4)

    again, _, _ = small(seed=9)
    resumed = made(again, seed=99, samples=2, lr=7.0)
    weights, state = torch.load(tmp_path / "state", weights_only=True)
    again.load_state_dict(weights)
    resumed.load_state_dict(state)
    assert resumed.param_groups[0]["step"] == 4
    learn(resumed, again, x, y, steps=4)
    for p, q in zip(network.parameters(), again.parameters(), strict=True):
        assert torch.equal(p, q)
        assert torch.equal(optimizer.std(p), resumed.std(q))


def test_an_exception_leaves_the_means_in_place_and_the_step_starts_over() -> None:
    network, x, y = small()
    optimizer = made(network, samples=2)
    learn(optimizer, network, x, y, steps=1)
    before = copy.deepcopy(network.state_dict())
    with optimizer.sampling():
        nn.functional.cross_entropy(network(x), y).backward()
    with pytest.raises(IndexError), optimizer.sampling():
        network(x[:, [99]])
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    with optimizer.sampling():  # a control: inside, they are others
        assert not torch.equal(network[0].weight, before["0.weight"])
        nn.functional.cross_entropy(network(x), y).backward()
    with pytest.raises(InputError, match="needs 2 gradient samples and has 1"):
        optimizer.step()


def test_the_global_stream_is_left_alone() -> None:
    network, x, y = small()
    state = torch.get_rng_state()
    learn(made(network), network, x, y, steps=2)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_half_step_is_not_saved() -> None:
    network, x, y = small()
    optimizer = made(network)
    with optimizer.sampling():
        nn.functional.cross_entropy(network(x), y).backward()
    with pytest.raises(InputError, match="between its steps"):
        optimizer.state_dict()


def test_weights_the_loss_does_not_use_go_back_to_the_prior() -> None:
    used, unused = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    rng = torch.Generator().manual_seed(0)
    optimizer = IVON([used, unused], lr=0.5, count=100, rng=rng, betas=(0.9, 0.9), weight_decay=0.04)
    for _ in range(300):
        with optimizer.sampling():
            (used - 1).square().sum().backward()
        optimizer.step()
    torch.testing.assert_close(optimizer.std(unused), torch.full((2,), 0.5), rtol=0.01, atol=0)
    assert unused.abs().max() < 0.01


def test_groups_have_options_of_their_own() -> None:
    fast, slow = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    optimizer = IVON(
        [{"params": [fast]}, {"params": [slow], "lr": 0.0}],
        lr=0.1,
        count=1e4,
        rng=torch.Generator().manual_seed(0),
    )
    with optimizer.sampling():
        (fast + slow).square().sum().backward()
    optimizer.step()
    assert float(slow.detach()) == 1.0
    assert float(fast.detach()) == pytest.approx(1 - 0.1 * 4, abs=0.02)  # the first step is plain descent


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": -1.0}, "lr must be"),
        ({"count": 0}, "count must be above 0"),
        ({"hess_init": 0.0}, "hess_init must be above 0"),
        ({"betas": (0.9, 1.0)}, "betas are two numbers from 0 up to below 1"),
        ({"weight_decay": float("nan")}, "weight_decay must be"),
        ({"samples": 0}, "samples must be a whole number of at least 1"),
        ({"clip_radius": 0.0}, "clip_radius must be above 0"),
    ],
)
def test_options_outside_their_range_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        made(small()[0], **options)


def test_it_is_public() -> None:
    assert aw.optim.IVON is IVON


def test_with_flipout_the_curvature_has_less_noise_and_the_same_mean() -> None:
    torch.manual_seed(0)
    network, x = nn.Sequential(nn.Linear(4, 1)), torch.randn(64, 4)
    y = network(x).detach() + torch.randn(64, 1)
    exact = x.square().mean(dim=0)  # of the mean of (f - y)^2 / 2
    spread = {}
    for kind, flipout in (("flipout", (network, {"0": network[0]})), ("sample", None)):
        optimizer = made(
            network, lr=0.0, betas=(0.9, 0.995), hess_init=1.0, weight_decay=1e-3, count=64, flipout=flipout
        )
        found = []
        for step in range(800):
            with optimizer.sampling():
                ((network(x) - y).square().mean() / 2).backward()
            optimizer.step()
            if step >= 300:
                found.append(optimizer.state[network[0].weight]["hess"][0].clone())
        seen = torch.stack(found)
        torch.testing.assert_close(seen.mean(0), exact, rtol=0.15, atol=0)
        spread[kind] = (seen.std(0) / exact).mean()
    assert spread["flipout"] < 0.8 * spread["sample"]


def test_with_flipout_the_means_stay_in_place_and_it_learns() -> None:
    network, x, y = small()
    optimizer = made(network, flipout=(network, {"0": network[0], "2": network[2]}), hess_init=1.0)
    before = copy.deepcopy(network.state_dict())
    with optimizer.sampling():
        assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
        assert not torch.equal(network(x), network(x.flip(0)).flip(0))  # and items have weights of their own
        nn.functional.cross_entropy(network(x), y).backward()
    optimizer.step()
    learn(optimizer, network, x, y, steps=100)
    assert nn.functional.cross_entropy(network(x), y) < 0.9
