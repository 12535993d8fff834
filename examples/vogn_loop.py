"""VOGN in a training loop of one's own: Gaussian weights with two more lines than Adam needs.

    python examples/vogn_loop.py

The loop is plain PyTorch. A step computes its loss inside `optimizer.sampling()`, where the weights
are a draw, and afterwards the optimizer knows a standard deviation for every weight. Networks are then
drawn by hand, and where they disagree is the uncertainty that more labels would remove.
"""

from typing import Any

import torch
from matplotlib.figure import Figure
from shared import picture, run, save
from sklearn.datasets import make_moons
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import askwise as aw


def train(network: nn.Module, data: TensorDataset, *, epochs: int, rng: torch.Generator) -> aw.optim.VOGN:
    """The optimizer, which knows the deviations; the means are the network's weights."""
    optimizer = aw.optim.VOGN(network, lr=0.05, count=len(data), prior_precision=1.0, rng=rng)
    for epoch in range(epochs):
        for x, y in DataLoader(data, batch_size=50, shuffle=True, generator=rng):
            with optimizer.sampling():
                loss = F.cross_entropy(network(x), y)
                loss.backward()
            optimizer.step()
        if (epoch + 1) % max(1, epochs // 5) == 0:
            print(f"epoch {epoch + 1:4d}: loss {loss.item():.3f}", flush=True)
    return optimizer


@torch.no_grad()
def predict(network: nn.Module, optimizer: aw.optim.VOGN, x: Tensor, *, draws: int, rng: Any) -> Tensor:
    """Log-probabilities [N, T, C] under networks drawn by hand."""
    found = []
    for _ in range(draws):
        weights = {
            name: mean + optimizer.std(mean) * torch.randn(mean.shape, generator=rng)
            for name, mean in network.named_parameters()
        }
        found.append(functional_call(network, weights, x).log_softmax(dim=1))
    return torch.stack(found, dim=1)


def main(*, small: bool, data_dir: Any = None, out: Any) -> dict[str, float]:
    """Accuracy on held-out points, and the uncertainty of the draws near the data and far away."""
    rng = torch.Generator().manual_seed(0)
    torch.manual_seed(0)  # the network's first weights
    points, labels = make_moons(400, noise=0.15, random_state=0)
    x, y = torch.tensor(points, dtype=torch.float32), torch.tensor(labels)
    network = aw.nets.mlp(2, 2, hidden=(64, 64))
    epochs, draws = (100, 20) if small else (400, 200)
    optimizer = train(network, TensorDataset(x[:200], y[:200]), epochs=epochs, rng=rng)

    log_probs = predict(network, optimizer, x[200:], draws=draws, rng=rng)
    accuracy = (log_probs.exp().mean(dim=1).argmax(dim=1) == y[200:]).float().mean().item()
    near = aw.score("bald", log_probs).mean().item()

    fine = 1 if small else 2
    across, up = torch.linspace(-3, 4, 70 * fine), torch.linspace(-2.5, 3, 55 * fine)
    grid = torch.cartesian_prod(up, across).flip(1)
    over = predict(network, optimizer, grid, draws=draws, rng=rng)
    maps = {
        "probability of the orange moon": over.exp().mean(dim=1)[:, 1],
        "uncertainty in all (entropy), nats": aw.score("max_entropy", over),
        "uncertainty that labels would remove (BALD)": aw.score("bald", over),
    }
    far = maps["uncertainty that labels would remove (BALD)"][(grid[:, None] - x).norm(dim=2).amin(dim=1) > 1]

    figure = Figure(figsize=(12, 3.4), layout="constrained")
    for axes, (title, values) in zip(figure.subplots(1, 3), maps.items(), strict=True):
        drawn = picture(
            axes,
            values.reshape(len(up), len(across)),
            title,
            origin="lower",
            extent=(-3, 4, -2.5, 3),
            cmap="PuOr_r" if title.startswith("prob") else "magma",
        )
        for label, colour in enumerate(("#5e4fa2", "#e66101")):
            own = x[:200][y[:200] == label]
            axes.scatter(*own.T.numpy(), s=9, color=colour, edgecolor="white", linewidth=0.4)
        figure.colorbar(drawn, ax=axes, shrink=0.85)
    save(figure, out, "vogn_loop")
    return {"accuracy": accuracy, "BALD near the data": near, "BALD far from it": far.mean().item()}


if __name__ == "__main__":
    run(main, __doc__)
