"""What a model says of items: one row each, with its uncertainty and whether a person should look."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import predict
from askwise.engine import Local
from askwise.errors import InputError
from askwise.oracle.labelling import labelling
from askwise.pool import Pool
from askwise.store.labels import Tags
from askwise.tasks import Prediction
from askwise.train.progress import Follow, meter

RISK = 0.1
ROUND = "round"
"""The column of a file that says, row by row, by the model of which round it is."""
_CHUNK = 256  # items read and predicted at a time


def columns_of(model: Fitted, *, labelled: bool = False) -> list[str]:
    """The columns of the predictions, in order; the id of a picture is its name.

    Where items may be `labelled`, what people said of them has a column of its own.
    """
    own = {
        "classification": ["class", "probability", *(f"p:{name}" for name in model.classes)],
        "multilabel": ["tags", *(f"p:{name}" for name in model.classes)],
        "regression": [f"{name}{end}" for name in model.classes for end in ("", ":std")],
    }
    if model.task.name not in own:
        raise InputError(f"predictions of {model.task.name} are pictures; a table cannot hold them")
    named = [] if model.preparation.get("kind") == "images" else ["name"]
    asks = [] if model.task.name == "regression" else ["ask"]
    known = ["label"] if labelled and "label" not in own[model.task.name] else []  # a number may be so called
    return ["id", *named, *known, *own[model.task.name], "total", "epistemic", "aleatoric", *asks, "error"]


def predictions(
    model: Fitted,
    pool: Pool,
    *,
    draws: int = 100,
    seed: int = 0,
    risk: float = RISK,
    known: Collection[str] = (),
    labels: Mapping[str, str] | None = None,
    progress: Follow = False,
) -> Iterator[dict[str, Any]]:
    """One row for each item of a pool, in its order; those that cannot be read have an `error` and no class.

    Rows of a table that are like none the model can know have an `error`, too, beside their prediction: a
    category that no item of the project had, or a number beyond the range of its column by more than the
    width of that range. A person is asked about them.

    Uncertainty is in nats, summed over tags; of numbers it is variance. `ask` is true where the model gives
    its own choice less than 1 - `risk`, of some tag at least: of the rest it expects at most that share to
    be wrong. That is the model's word, and not tested here. Items that are `known` are left out.

    `labels` are what people said of the items, by id, as a file writes it: nobody is asked about these again.
    """
    if not 0 < risk < 1:
        raise InputError(f"risk is a share of errors between 0 and 1, not {risk:g}")
    ids, engine = [name for name in pool.ids if name not in known], Local(processes=1)
    columns = columns_of(model, labelled=labels is not None)
    if labels is None or columns == columns_of(model):
        labels = {}
    empty = dict.fromkeys(columns)
    with meter(len(ids), "predicting", unit="items", show=progress) as advance:
        for start in range(0, len(ids), _CHUNK):
            some = ids[start : start + _CHUNK]
            reading = pool.read(some)
            rows = {name: {**empty, **_marked(empty, why)} for name, why in reading.quarantined.items()}
            if reading.ids:
                found = predict(model, reading.inputs, draws=draws, seed=seed, engine=engine)
                for at, name in enumerate(reading.ids):
                    rows[name] = {
                        **empty,
                        **_row(model, found, at, risk=risk),
                        **_marked(empty, pool.unlike(name)),
                    }
            for name in some:
                own = {"id": name, **({"name": pool.name(name)} if "name" in empty else {})}
                yield {**rows[name], **own, **_said(empty, name, labels)}
            advance(len(some))


def still_holding(
    model: Fitted, rows: Iterable[Mapping[str, Any]], *, number: int, labels: Mapping[str, str] | None
) -> set[str]:
    """The ids of those rows of a file that would be written again as they are.

    They are by the model of this round, and have the label that people give the item by now.
    """
    if labels is None or columns_of(model, labelled=True) == columns_of(model):
        return {row["id"] for row in rows if str(row[ROUND]) == str(number)}
    return {
        row["id"]
        for row in rows
        if str(row[ROUND]) == str(number) and (row["label"] or None) == labels.get(row["id"])
    }


def _said(empty: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """What is known of an item that somebody answered: its label, and that nobody need be asked."""
    if name not in labels:
        return {}
    return {key: value for key, value in (("label", labels[name]), ("ask", False)) if key in empty}


def _marked(empty: Mapping[str, Any], why: str | None) -> dict[str, Any]:
    """What speaks against trusting the model with an item, and that a person is asked about it."""
    if why is None:
        return {}
    return {"error": why, **({"ask": True} if "ask" in empty else {})}


def _row(model: Fitted, found: Prediction, at: int, *, risk: float) -> dict[str, Any]:
    mean, names = found.mean[at].double(), model.classes
    uncertainty = {
        name: float(value[at].sum())
        for name, value in (
            ("total", found.total),
            ("epistemic", found.epistemic),
            ("aleatoric", found.aleatoric),
        )
    }
    if model.task.name == "regression":
        spread = found.total[at].double().sqrt().tolist()
        values = zip(names, mean.tolist(), spread, strict=True)
        return {
            key: value for name, one, std in values for key, value in ((name, one), (f"{name}:std", std))
        } | uncertainty
    if model.task.name == "multilabel":
        chances = mean[:, 1]
        told = labelling({"name": "multilabel", **model.task.options}, names)
        return {
            "tags": told.text(told.guess(mean) or Tags(())),
            **{f"p:{name}": value for name, value in zip(names, chances.tolist(), strict=True)},
            **uncertainty,
            "ask": bool(mean.amax(dim=1).min() < 1 - risk),
        }
    best = int(mean.argmax())
    return {
        "class": names[best],
        "probability": float(mean[best]),
        **{f"p:{name}": value for name, value in zip(names, mean.tolist(), strict=True)},
        **uncertainty,
        "ask": bool(mean[best] < 1 - risk),
    }
