"""The measurements by name, in the order they run; each takes a Bench and returns a Finding."""

from collections.abc import Callable

from speed.bench import Bench
from speed.finding import Finding
from speed.rows import batchbald, huge, live_round, scaling, scoring, startup, training

ROWS: dict[str, Callable[[Bench], Finding]] = {
    "mc_dropout": scoring.mc_dropout,
    "few": scoring.few,
    "bnn1": scoring.bnn1,
    "all_bayesian": scoring.all_bayesian,
    "early_dropout": scoring.early_dropout,
    "encoder": scoring.encoder,
    "scaling": scaling.measure,
    "huge": huge.measure,
    "training": training.measure,
    "batchbald": batchbald.measure,
    "live_round": live_round.measure,
    "startup": startup.measure,
}
