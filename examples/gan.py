"""A GAN whose judge has uncertainty: DCGAN with a Bayesian discriminator, learned by IVON.

    python examples/gan.py            MNIST where it is (--data DIR), otherwise scikit-learn's digits
    python examples/gan.py --small    a few seconds: numbers, but no digits to speak of yet

An ordinary adversarial loop, except that the discriminator is a draw from its posterior at every step.
Afterwards 50 discriminators are drawn by hand, and judge real images they never saw, generated ones
and plain noise: how real they find them, and how much they disagree.
"""

from typing import Any

import torch
from matplotlib.figure import Figure
from shared import BLUE, GREY, ORANGE, here, picture, plain, run, save, tiled
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F

import askwise as aw

NOISE = 64


class Players:
    """The generator, the discriminator and their optimizers."""

    def __init__(self, real: Tensor, *, width: int, rng: torch.Generator) -> None:
        size = real.shape[-1]
        self.real, self.rng = real, rng
        self.generator = aw.nets.dcgan_generator(noise=NOISE, size=size, width=width)
        self.judge = aw.nets.dcgan_discriminator(size=size, width=width)
        self.make = torch.optim.Adam(self.generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
        self.learn = aw.optim.IVON(
            self.judge.parameters(),
            lr=0.05,
            count=max(len(real), 60_000),  # tempered on small sets: a judge too unsure teaches nothing
            rng=rng,
            hess_init=0.1,
            betas=(0.5, 0.999),
            clip_radius=0.1,  # the game has sudden turns; no step is longer than .0005
        )

    def images(self, count: int) -> Tensor:
        """New images, out of noise."""
        return self.generator(torch.randn(count, NOISE, generator=self.rng))

    def step(self, batch: int) -> tuple[float, float]:
        """The losses of both in one step of the game."""
        real = self.real[torch.randint(len(self.real), (batch,), generator=self.rng)]
        made = self.images(batch)
        with self.learn.sampling():
            loss = (F.softplus(-self.judge(real)) + F.softplus(self.judge(made.detach()))).mean()
            loss.backward()
        self.learn.step()
        self.make.zero_grad()
        fooled = F.softplus(-self.judge(made)).mean()
        fooled.backward()
        self.make.step()
        return loss.item(), fooled.item()


@torch.no_grad()
def judged(judge: nn.Module, learned: aw.optim.IVON, images: Tensor, *, rng: Any, draws: int) -> Tensor:
    """Log-probabilities [N, T, 2] of generated and real, under discriminators drawn by hand."""
    found = []
    for _ in range(draws):
        weights = {
            name: mean + learned.std(mean) * torch.randn(mean.shape, generator=rng)
            for name, mean in judge.named_parameters()
        }
        logits = functional_call(judge, weights, images)[:, 0]
        found.append(torch.stack([F.logsigmoid(-logits), F.logsigmoid(logits)], dim=1))
    return torch.stack(found, dim=1)


def main(*, small: bool, data_dir: Any = None, out: Any) -> dict[str, float]:
    """How real the draws find three kinds of images, and how much they disagree, in nats."""
    data = None
    if not small:
        data = here(lambda: aw.data.load("mnist", data_dir=data_dir), otherwise="digits instead of MNIST")
    data = data or aw.data.load("digits")
    rng = torch.Generator().manual_seed(0)
    torch.manual_seed(0)  # the first weights
    width, batch, steps = (16, 32, 150) if small else (32, 64, 2000)
    players = Players(data.train_x, width=width, rng=rng)
    for number in range(1, steps + 1):
        losses = players.step(batch)
        if number % (steps // 5) == 0:
            print(f"step {number}: discriminator {losses[0]:.2f}, generator {losses[1]:.2f}", flush=True)

    players.generator.eval()
    players.judge.eval()
    with torch.no_grad():
        made = players.images(256)
    kinds = {"real": data.test_x[:256], "generated": made, "noise": torch.rand(made.shape, generator=rng)}
    figure = Figure(figsize=(12, 4), layout="constrained")
    *panels, axes = figure.subplots(1, 3)
    for panel, name in zip(panels, ("real", "generated"), strict=True):
        picture(panel, tiled(kinds[name][:64], columns=8), f"{data.name}: {name}", cmap="gray_r")
    plain(axes).set(xlabel="probability that it is real", ylabel="disagreement of the draws (BALD), nats")
    axes.set(xlim=(-0.03, 1.03), title="the Bayesian discriminator's uncertainty")
    numbers = {}
    for (name, images), colour in zip(kinds.items(), (BLUE, ORANGE, GREY), strict=True):
        log_probs = judged(players.judge, players.learn, images, rng=rng, draws=10 if small else 50)
        real, uncertainty = log_probs.exp().mean(dim=1)[:, 1], aw.score("bald", log_probs)
        axes.scatter(real.numpy(), uncertainty.numpy(), s=8, alpha=0.5, color=colour, label=name)
        numbers[f"probability of real, {name}"] = real.mean().item()
        numbers[f"disagreement, {name}"] = uncertainty.mean().item()
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    save(figure, out, "gan")
    return numbers


if __name__ == "__main__":
    run(main, __doc__)
