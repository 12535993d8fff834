"""What a model says of items: one row each, with its uncertainty and whether a person should look."""

from collections.abc import Iterator
from typing import Any

from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import predict
from askwise.engine import Local
from askwise.errors import InputError
from askwise.pool import Pool
from askwise.train.progress import Follow, meter

RISK = 0.1
_CHUNK = 256  # items read and predicted at a time


def columns_of(model: Fitted) -> list[str]:
    """The columns of the predictions, in order; the id of a picture is its name."""
    return [
        "id",
        *([] if model.preparation.get("kind") == "images" else ["name"]),
        "class",
        "probability",
        *(f"p:{name}" for name in model.classes),
        "total",
        "epistemic",
        "aleatoric",
        "ask",
        "error",
    ]


def predictions(
    model: Fitted,
    pool: Pool,
    *,
    draws: int = 100,
    seed: int = 0,
    risk: float = RISK,
    progress: Follow = False,
) -> Iterator[dict[str, Any]]:
    """One row for each item of a pool, in its order; those that cannot be read have an `error` and no class.

    Uncertainty is in nats. `ask` is true where the model gives its own choice less than 1 - `risk`: of
    the rest it expects at most that share to be wrong. That is the model's word; `certify` tests it.
    """
    if not 0 < risk < 1:
        raise InputError(f"risk is a share of errors between 0 and 1, not {risk:g}")
    if model.task.name != "classification":
        raise InputError(f"predictions in a table want one class per item, not {model.task.name}")
    ids, engine = list(pool.ids), Local(processes=1)
    empty = dict.fromkeys(columns_of(model))
    with meter(len(ids), "predicting", unit="items", show=progress) as advance:
        for start in range(0, len(ids), _CHUNK):
            some = ids[start : start + _CHUNK]
            reading = pool.read(some)
            rows = {name: {**empty, "ask": True, "error": why} for name, why in reading.quarantined.items()}
            if reading.ids:
                found = predict(model, reading.inputs, draws=draws, seed=seed, engine=engine)
                values = zip(
                    reading.ids,
                    found.mean.double().tolist(),
                    found.total.tolist(),
                    found.epistemic.tolist(),
                    found.aleatoric.tolist(),
                    strict=True,
                )
                for name, mean, *doubt in values:
                    rows[name] = {**empty, **_row(model.classes, mean, *doubt, risk=risk)}
            for name in some:
                yield {**rows[name], "id": name, **({"name": pool.name(name)} if "name" in empty else {})}
            advance(len(some))


def _row(
    classes: tuple[str, ...],
    mean: list[float],
    total: float,
    epistemic: float,
    aleatoric: float,
    *,
    risk: float,
) -> dict[str, Any]:
    best = max(range(len(mean)), key=mean.__getitem__)
    return {
        "class": classes[best],
        "probability": mean[best],
        **{f"p:{name}": value for name, value in zip(classes, mean, strict=True)},
        "total": total,
        "epistemic": epistemic,
        "aleatoric": aleatoric,
        "ask": mean[best] < 1 - risk,
    }
