"""Coverage and width of accuracy bands while one looks after every answer, and what a stop rule makes of them."""

from typing import Any

import torch
from scipy import special
from torch import Tensor

from askwise.assess.band import ABOVE, BELOW, LEAST, STRICTER, Spread, readings
from askwise.math.betting import last_kept, log_capital
from promises.runs import Runs, margin_and_uncertainty, wrong

ALPHA, REGION, EVERY, ANSWERS = 0.05, 0.3, 5, 500  # every fifth question is a test question
WIDTHS_AT = (30, 60, 100)  # test answers
TARGETS = {
    "digits": 0.85,
    "mnist": 0.75,
    "fashion_mnist": 0.6,
    "trec": 0.5,
}  # of the stop rule, below the last accuracy
OURS, STRICT, PLAIN, NAIVE, OLD, LURE = (
    "band",
    "band, alpha/8",
    "betting alone",
    "Clopper-Pearson",
    "old scores",
    "LURE",
)
SETTINGS = {
    "alpha": ALPHA, "region": REGION, "test_every": EVERY, "answers": ANSWERS, "targets": TARGETS,
    "least": LEAST, "stricter": STRICTER, "below": BELOW, "above": ABOVE,
}  # fmt: skip


class Bands:
    """The test answers of all runs, and which bands have missed the truth so far."""

    def __init__(self, runs: Runs, target: float) -> None:
        self.runs, self.target, self.size = runs, target, int(REGION * runs.pool)
        runs.open[:, : self.size] = False  # the pool is in random order: its first items are the region
        order = torch.stack([torch.randperm(self.size, generator=runs.rng) for _ in range(runs.count)])
        self.order, self.tested = order, order[:, :0]
        self.old = torch.zeros(runs.count, dtype=torch.float64)
        self.left = torch.ones(runs.count, self.size)  # not yet drawn by LURE
        self.drawn, self.weights = order[:, :0], torch.zeros(runs.count, 0, dtype=torch.float64)
        none = torch.zeros(runs.count, dtype=torch.bool)
        self.missed = {name: none.clone() for name in (OURS, STRICT, PLAIN, NAIVE, OLD, LURE)}
        self.missed_new = {name: none.clone() for name in (OURS, STRICT)}
        self.stops: dict[str, dict[str, Tensor]] = {
            name: {
                "stopped": none.clone(),
                "missed": none.clone(),
                "below": none.clone(),
                "answers": torch.zeros(runs.count),
            }
            for name in (STRICT, OURS, NAIVE)
        }
        self.widths: dict[str, dict[str, float]] = {}
        self.squares: dict[str, dict[str, float]] = {}

    def test(self, uncertainty: Tensor, wrong: Tensor) -> None:
        """One more test question in every run, for the bands and for LURE."""
        runs, n = self.runs, self.tested.shape[1]
        self.tested = self.order[:, : n + 1]
        newest = self.tested[:, n]
        self.old += wrong[runs.rows, newest].double()
        score = (uncertainty[:, : self.size] + 0.01) * self.left  # Kossen et al. 2021: expected loss, never 0
        chance = score / score.sum(dim=1, keepdim=True)
        drawn = torch.multinomial(chance, 1, generator=runs.rng)
        self.left.scatter_(1, drawn, 0)
        self.drawn = torch.cat([self.drawn, drawn], dim=1)
        self.weights = torch.cat([self.weights, chance.gather(1, drawn).double()], dim=1)

    def look(self, uncertainty: Tensor, region_wrong: Tensor, *, answers: int, new: bool) -> None:
        """Compare every band with the truth of the present model."""
        n = self.tested.shape[1]
        if n < LEAST:
            return
        runs = self.runs
        region_wrong = region_wrong.double()
        truth = region_wrong.mean(dim=1)
        wrong = region_wrong.gather(1, self.tested)
        unsure, every = uncertainty.gather(1, self.tested).double(), uncertainty[:, : self.size].double()
        both, low, high = readings(wrong, unsure, Spread.of(every))
        capital = won(both, low, high, truth)
        plain = won(both[:, :1], low[:, :1], high[:, :1], truth)
        errors, lure, spread = wrong.sum(dim=1), *self._lure(region_wrong)
        out = {
            OURS: capital >= 2 / ALPHA,
            STRICT: capital >= 2 * STRICTER / ALPHA,
            PLAIN: plain >= 2 / ALPHA,
            NAIVE: outside(errors, n, truth),
            OLD: outside(self.old, n, truth),
            LURE: (lure - truth).abs() > 1.96 * spread,
        }
        for name, missing in out.items():
            self.missed[name] |= missing
        if new:
            capital = won(both, low, high, runs.new_wrong())
            self.missed_new[OURS] |= capital >= 2 / ALPHA
            self.missed_new[STRICT] |= capital >= 2 * STRICTER / ALPHA
        limit = torch.full_like(truth, 1 - self.target)
        below = log_capital(both, limit, high, BELOW).exp()
        reached = {
            OURS: below >= 2 / ALPHA,
            STRICT: below >= 2 * STRICTER / ALPHA,
            NAIVE: torch.from_numpy(special.bdtr(errors.numpy(), n, limit.numpy())) < ALPHA / 2,
        }
        for name, stop in self.stops.items():
            fresh = (reached[name] | (answers == ANSWERS)) & (stop["answers"] == 0)
            stop["answers"][fresh] = answers
            stop["missed"] |= fresh & out[name]
            stop["stopped"] |= fresh & reached[name]
            stop["below"] |= fresh & reached[name] & (truth > 1 - self.target)
        if new and n in WIDTHS_AT:
            self._measure(n, both, low, high, truth, errors, lure, spread)

    def _lure(self, region_wrong: Tensor) -> tuple[Tensor, Tensor]:
        """Farquhar's weighted mean of the present model's errors, and its standard error."""
        n, size = self.drawn.shape[1], self.size
        place = torch.arange(1, n + 1, dtype=torch.float64)
        weight = 1 + (size - n) / (size - place) * (1 / ((size - place + 1) * self.weights) - 1)
        values = weight * region_wrong.gather(1, self.drawn)
        return values.mean(dim=1), values.std(dim=1) / n**0.5

    def _measure(
        self,
        n: int,
        both: Tensor,
        low: Tensor,
        high: Tensor,
        truth: Tensor,
        errors: Tensor,
        lure: Tensor,
        spread: Tensor,
    ) -> None:
        widths = {
            OURS: _width(both, low, high, ALPHA),
            STRICT: _width(both, low, high, ALPHA / STRICTER),
            PLAIN: _width(both[:, :1], low[:, :1], high[:, :1], ALPHA),
            NAIVE: _exact_width(errors, n),
            LURE: 2 * 1.96 * spread.mean(),
        }
        self.widths[str(n)] = {name: float(width) for name, width in widths.items()}
        points = {"share": errors / n, "with the model's uncertainty": both[:, 1].mean(dim=1), LURE: lure}
        self.squares[str(n)] = {
            name: float((point - truth).square().mean()) for name, point in points.items()
        }
        self.squares[str(n)]["accuracy"] = float(1 - truth.mean())

    def values(self) -> dict[str, Any]:
        """Counts over the runs, and means of widths and squared errors."""
        return {
            "missed": {name: int(found.sum()) for name, found in self.missed.items()},
            "missed_new": {name: int(found.sum()) for name, found in self.missed_new.items()},
            "stops": {
                name: {what: float(v.double().sum()) for what, v in stop.items()}
                for name, stop in self.stops.items()
            },
            "widths": self.widths,
            "squares": self.squares,
        }


def simulate(runs: Runs, target: float, *, freeze_at: int) -> tuple[Bands, Tensor, Tensor]:
    """Every band over all answers, and logits and open items after `freeze_at` training answers."""
    bands, frozen = Bands(runs, target), (torch.empty(0), torch.empty(0))
    logits = runs.logits()
    margin, uncertainty = margin_and_uncertainty(logits)
    region_wrong = wrong(logits[..., : bands.size], runs.y[:, : bands.size])
    for answers in range(1, ANSWERS + 1):
        testing = answers % EVERY == 0
        if testing:
            bands.test(uncertainty, region_wrong)
        else:
            runs.learn(runs.ask(margin))
            logits = runs.logits()
            margin, uncertainty = margin_and_uncertainty(logits)
            region_wrong = wrong(logits[..., : bands.size], runs.y[:, : bands.size])
            if runs.learned.shape[1] == freeze_at:
                frozen = logits, runs.open.clone()
        bands.look(uncertainty, region_wrong, answers=answers, new=testing)
    return bands, *frozen


def won(values: Tensor, low: Tensor, high: Tensor, mean: Tensor) -> Tensor:
    """The larger capital of the two sides' bets against this mean."""
    sides = [log_capital(values, mean, edge, shares) for edge, shares in ((high, BELOW), (low, ABOVE))]
    return torch.maximum(*sides).exp()


def _width(values: Tensor, low: Tensor, high: Tensor, alpha: float) -> Tensor:
    """The mean width of the band."""
    zero, one = values.new_zeros(len(values)), values.new_ones(len(values))
    most = last_kept(lambda m: log_capital(values, m, high, BELOW).exp() >= 2 / alpha, zero, one)
    least = last_kept(lambda m: log_capital(values, m, low, ABOVE).exp() >= 2 / alpha, one, zero)
    return (most - least).mean()


def outside(errors: Tensor, n: int | Tensor, truth: Tensor) -> Tensor:
    """Whether Clopper and Pearson's interval at this look misses the truth."""
    total = n.long().numpy() if isinstance(n, Tensor) else n
    few = torch.from_numpy(special.bdtr(errors.numpy(), total, truth.numpy())) < ALPHA / 2
    many = torch.from_numpy(special.bdtrc(errors.numpy() - 1, total, truth.numpy())) < ALPHA / 2
    return few | (many & (errors > 0))


def _exact_width(errors: Tensor, n: int) -> Tensor:
    low, high = exact_interval(errors, n)
    return (high - low).mean()


def exact_interval(count: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Clopper and Pearson's interval of a share (1934)."""
    k = count.numpy()
    low = torch.from_numpy(special.betaincinv(k.clip(min=1), n - k + 1, ALPHA / 2))
    high = torch.from_numpy(special.betaincinv(k + 1, (n - k).clip(min=1), 1 - ALPHA / 2))
    return torch.where(count > 0, low, 0.0), torch.where(count < n, high, 1.0)
