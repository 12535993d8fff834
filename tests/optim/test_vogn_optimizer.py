"""VOGN follows its formulas, resumes to the bit and never leaves a perturbed model or a hook."""

import copy

import pytest
import torch
from item_gradients import by_item
from torch import Tensor, nn

import askwise as aw
from askwise.errors import InputError
from askwise.optim import VOGN


def small(seed: int = 0) -> tuple[nn.Module, Tensor, Tensor]:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = nn.Sequential(
            nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.Tanh(), nn.Flatten(), nn.Linear(12, 3)
        )
        return network, torch.randn(16, 1, 4, 4), torch.randint(3, (16,))


def dense() -> tuple[nn.Module, Tensor, Tensor]:
    rng = torch.Generator().manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
    with torch.no_grad():
        for p in network.parameters():
            p.normal_(std=0.5, generator=rng)
    return network, torch.randn(12, 4, generator=rng), torch.randint(3, (12,), generator=rng)


def made(network: nn.Module, seed: int = 1, **options) -> VOGN:
    options = {
        "lr": 0.05,
        "count": 16,
        "betas": (0.8, 0.9),
        "warm_up": 5,
        "noise": "sample",
        **options,
    }
    return VOGN(network, rng=torch.Generator().manual_seed(seed), **options)


def learn(optimizer: VOGN, network: nn.Module, x: Tensor, y: Tensor, steps: int) -> None:
    for _ in range(steps):
        for _ in range(optimizer.samples):
            with optimizer.sampling():
                nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()


def test_two_steps_are_those_of_the_formulas() -> None:
    network, x, y = dense()
    lr, count, (b1, b2), delta, damping = 0.05, 30, (0.8, 0.9), 2.0, 0.01
    optimizer = made(
        network, lr=lr, count=count, prior_precision=delta, damping=damping, betas=(b1, b2), warm_up=4
    )
    mean = {n: p.detach().clone() for n, p in network.named_parameters()}
    momentum = {n: torch.zeros_like(p) for n, p in mean.items()}
    square = {n: torch.zeros_like(p) for n, p in mean.items()}
    rng, seen = torch.Generator().manual_seed(1), 0.0
    for step, tau in ((1, 0.1), (2, 0.325)):
        theta = dict(mean)
        if step == 2:  # the first step knows no deviations and is taken at the means
            theta = {
                n: m + torch.randn(m.shape, generator=rng) / (count * square[n] + delta).sqrt()
                for n, m in mean.items()
            }
        there = copy.deepcopy(network)
        there.load_state_dict(theta)
        nn.functional.cross_entropy(there(x), y).backward()
        found, decay = by_item(there, x, y), tau * delta / count
        seen = (1 - tau * (1 - b2)) * seen + tau * (1 - b2)
        for name, p in there.named_parameters():
            square[name] = (1 - tau * (1 - b2)) * square[name] + (1 - b2) * found[name]
            momentum[name] = b1 * momentum[name] + (1 - b1) * (p.grad + decay * mean[name])
            average = momentum[name] / (1 - b1**step)
            mean[name] = mean[name] - lr * average / (square[name] / seen + decay + damping)
        learn(optimizer, network, x, y, steps=1)
        for name, p in network.named_parameters():
            torch.testing.assert_close(p.detach(), mean[name], rtol=1e-5, atol=1e-6)
            torch.testing.assert_close(optimizer.std(p), (count * square[name] + delta) ** -0.5)


def test_tau_rises_from_a_tenth_to_one_over_the_warm_up() -> None:
    network, x, y = small()
    optimizer, seen = made(network, warm_up=3), []
    for _ in range(5):
        seen.append(optimizer.tau)
        learn(optimizer, network, x, y, steps=1)
    assert seen == pytest.approx([0.1, 0.4, 0.7, 1.0, 1.0])
    assert made(network, warm_up=0).tau == 1.0


def test_samples_have_the_posteriors_deviation_without_the_damping() -> None:
    network, x, y = dense()
    optimizer = made(network, damping=10.0)
    learn(optimizer, network, x, y, steps=2)
    means, seen = [p.detach().clone() for p in network.parameters()], []
    for _ in range(60):
        with optimizer.sampling():
            there = zip(network.parameters(), means, strict=True)
            seen += [((p.detach() - m) / optimizer.std(p)).flatten() for p, m in there]
            network(x).sum().backward()
        optimizer._samples.clear()
        optimizer.rest._samples.clear()
    noise = torch.cat(seen)
    assert float(noise.std()) == pytest.approx(1.0, abs=0.05)
    assert float(noise.mean()) == pytest.approx(0.0, abs=0.08)
    weight = network[0].weight
    damped = (16 * (optimizer.state[weight]["square"] + 10.0) + 1.0) ** -0.5
    assert (optimizer.std(weight) > 2 * damped).all()


def test_samples_are_averaged_before_the_step() -> None:
    network, x, y = dense()
    optimizer = made(network, samples=4)
    learn(optimizer, network, x, y, steps=1)
    grads, squares, there = [], [], copy.deepcopy(network)
    for _ in range(4):
        with optimizer.sampling():
            nn.functional.cross_entropy(network(x), y).backward()
            grads.append(network[0].weight.grad.clone())
            there.load_state_dict(network.state_dict())
        squares.append(by_item(there, x, y)["0.weight"])
    means = optimizer._samples.means()
    torch.testing.assert_close(means["gradient"][0], torch.stack(grads).mean(0))
    torch.testing.assert_close(means["square"][0], torch.stack(squares).mean(0), rtol=1e-5, atol=1e-8)
    assert not torch.allclose(grads[0], grads[1])


def test_batch_norm_is_deterministic_and_learns_by_adam() -> None:
    network, x, y = small()
    twin = copy.deepcopy(network)
    optimizer = made(network, rest_lr=0.01)
    assert [p.shape for p in optimizer.rest.param_groups[0]["params"]] == [(3,), (3,)]
    adam = torch.optim.Adam(twin[1].parameters(), lr=0.01)
    nn.functional.cross_entropy(twin(x), y).backward()
    adam.step()
    learn(optimizer, network, x, y, steps=1)
    torch.testing.assert_close(network[1].weight, twin[1].weight)
    with optimizer.sampling():
        torch.testing.assert_close(network[1].bias, twin[1].bias)
        network(x).sum().backward()


def test_only_the_chosen_layers_are_gaussian() -> None:
    network, x, y = small()
    optimizer = made(network, layers=["4"])
    learn(optimizer, network, x, y, steps=2)
    before = copy.deepcopy(network.state_dict())
    with optimizer.sampling():
        assert torch.equal(network[0].weight, before["0.weight"])
        assert not torch.equal(network[4].weight, before["4.weight"])
        nn.functional.cross_entropy(network(x), y).backward()
    optimizer.step()
    assert not torch.equal(network[0].weight, before["0.weight"])  # and the rest learns too


def test_saved_and_loaded_it_goes_on_to_the_bit(tmp_path) -> None:
    network, x, y = small()
    optimizer = made(network, samples=2)
    learn(optimizer, network, x, y, steps=3)
    torch.save([network.state_dict(), optimizer.state_dict()], tmp_path / "state")
    learn(optimizer, network, x, y, steps=3)

    again, _, _ = small(seed=5)
    resumed = made(again, seed=99, samples=2, lr=3.0, rest_lr=3.0)
    weights, state = torch.load(tmp_path / "state", weights_only=True)
    again.load_state_dict(weights)
    resumed.load_state_dict(state)
    learn(resumed, again, x, y, steps=3)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), again.parameters(), strict=True))
    assert torch.equal(optimizer.std(network[0].weight), resumed.std(again[0].weight))


def test_an_exception_leaves_the_means_in_place_and_no_hooks() -> None:
    network, x, y = small()
    optimizer = made(network)
    learn(optimizer, network, x, y, steps=2)
    before = copy.deepcopy(network.state_dict())
    with pytest.raises(RuntimeError, match="expected input"), optimizer.sampling():
        network(x.expand(-1, 2, -1, -1))
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in network.modules())
    learn(optimizer, network, x, y, steps=1)  # and it goes on


def test_the_global_stream_is_left_alone() -> None:
    network, x, y = small()
    state = torch.get_rng_state()
    learn(made(network), network, x, y, steps=2)
    assert torch.equal(torch.get_rng_state(), state)


def test_it_learns_in_a_loop_of_ones_own() -> None:
    network, x, y = dense()
    optimizer = made(network, count=1200)
    learn(optimizer, network, x, y, steps=150)
    assert nn.functional.cross_entropy(network(x), y) < 0.4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior_precision": 0.0}, "prior_precision must be above 0"),
        ({"damping": -1.0}, "damping must be"),
        ({"betas": (1.0, 0.9)}, "betas are two numbers"),
        ({"samples": 0}, "samples must be"),
        ({"layers": ["nine"]}, "unknown layer 'nine'"),
    ],
)
def test_options_outside_their_range_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        made(small()[0], **options)


def test_it_is_public() -> None:
    assert aw.optim.VOGN is VOGN


def jacobians(network: nn.Module, x: Tensor) -> dict[str, Tensor]:
    """d outputs / d parameter [N, C, ...] by name."""
    parameters = {name: p.detach() for name, p in network.named_parameters()}
    call = torch.func.jacrev(lambda own: torch.func.functional_call(network, own, (x,)))
    return call(parameters)


def gauss_newton(network: nn.Module, x: Tensor, task: aw.tasks.Task) -> dict[str, Tensor]:
    """The diagonal of the Gauss-Newton matrix, a mean over the items, from whole Jacobians."""
    d, u = task.curvature(network(x).detach())
    fisher = torch.diag_embed(d) - u[:, :, None] * u[:, None, :]
    return {
        name: torch.einsum("nc...,nce,ne...->...", found, fisher, found) / len(x)
        for name, found in jacobians(network, x).items()
    }


def measured(network: nn.Module, x: Tensor, task: aw.tasks.Task, repeats: int = 1) -> dict[str, Tensor]:
    """What the optimizer takes for it, averaged over so many first steps."""
    optimizer = made(network, curvature="gauss_newton")
    total = {name: torch.zeros_like(p) for name, p in network.named_parameters()}
    for _ in range(repeats):
        with optimizer.sampling():
            outputs = network(x)
            optimizer.gauss_newton(outputs, *task.curvature(outputs))
            outputs.sum().backward()
        found = optimizer._samples.means()["square"]
        optimizer.rest._samples.clear()
        for name, square in zip(total, found, strict=True):
            total[name] += square / repeats
    return total


@pytest.mark.parametrize("inplace", [False, True])
def test_the_gauss_newton_curvature_of_one_output_is_exact(inplace: bool) -> None:
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv1d(2, 3, 3, padding=1), nn.ReLU(inplace=inplace), nn.Flatten(), nn.Linear(12, 1)
    )
    x, task = torch.randn(7, 2, 4), aw.tasks.regression(tau=3.0)
    found, exact = measured(network, x, task), gauss_newton(network, x, task)
    for name, square in exact.items():
        torch.testing.assert_close(found[name], square, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("task", [aw.tasks.classification(), aw.tasks.multilabel()], ids=lambda t: t.name)
def test_the_gauss_newton_curvature_of_several_outputs_is_right_on_average(task) -> None:
    network, x, _ = dense()
    found, exact = measured(network, x, task, repeats=600), gauss_newton(network, x, task)
    for name, square in exact.items():
        torch.testing.assert_close(found[name], square, rtol=0.15, atol=1e-4)


def test_squared_gradients_are_another_curvature_where_residuals_are_not_the_noise() -> None:
    torch.manual_seed(0)
    network, x, task = nn.Sequential(nn.Linear(3, 1)), torch.randn(50, 3), aw.tasks.regression(tau=1.0)
    y = network(x).detach() + 5 * torch.randn(50, 1)  # five times what tau says
    optimizer = made(network)
    with optimizer.sampling():
        task.nll(network(x), y).backward()
    squares = optimizer._samples.means()["square"][0]
    assert (squares > 10 * gauss_newton(network, x, task)["0.weight"]).all()


def test_the_curvature_does_not_touch_the_gradients() -> None:
    network, x, y = dense()
    found = []
    for curvature in ("squares", "gauss_newton"):
        optimizer = made(network, curvature=curvature)
        with optimizer.sampling():
            outputs = network(x)
            if curvature == "gauss_newton":
                optimizer.gauss_newton(outputs, *aw.tasks.classification().curvature(outputs))
            nn.functional.cross_entropy(outputs, y).backward()
        found.append(optimizer._samples.means()["gradient"])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def test_gauss_newton_says_how_it_is_called() -> None:
    network, x, y = dense()
    optimizer = made(network, curvature="gauss_newton")
    with pytest.raises(InputError, match=r"call optimizer.gauss_newton\(outputs, d, u\) inside"):
        learn(optimizer, network, x, y, steps=1)
    outputs = network(x)
    for wrong in (optimizer, made(network)):
        with pytest.raises(InputError, match=r"called once inside sampling\(\), with curvature="):
            wrong.gauss_newton(outputs, outputs, outputs)

    def of_some() -> None:
        with optimizer.sampling():
            outputs = network(x)[:5]
            optimizer.gauss_newton(outputs, *aw.tasks.classification().curvature(outputs))

    with pytest.raises(InputError, match="outputs of all 12 items are needed, not of 5"):
        of_some()


def test_it_starts_as_the_prior_and_forgets_its_first_batch() -> None:
    network, x, y = dense()
    optimizer = made(network, lr=0.0, betas=(0.9, 0.9), warm_up=0, prior_precision=4.0, count=1e4)
    weight = network[0].weight
    assert optimizer.std(weight).unique().item() == 0.5
    optimizer.state[weight]["square"].fill_(1e3)  # after a first batch like no other
    optimizer.param_groups[0]["prior_precision"] = 1e12  # all gradients at the means
    learn(optimizer, network, x, y, steps=20)
    exact = by_item(network, x, y)["0.weight"]
    assert (optimizer.state[weight]["square"] - exact > 100).all()  # the control: not yet
    learn(optimizer, network, x, y, steps=230)
    torch.testing.assert_close(optimizer.state[weight]["square"], exact, rtol=1e-3, atol=1e-6)


def test_given_parameters_it_says_that_it_takes_the_network():
    with pytest.raises(InputError, match="VOGN takes the network itself"):
        VOGN(nn.Linear(4, 2).parameters(), lr=0.1, count=5, rng=torch.Generator())
