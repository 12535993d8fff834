"""Gal et al. 2017: the error at 1,000 labels, and pseudo-labels learned from the same labels."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from askwise import nets
from askwise.bayes.reset import reset
from askwise.papers.curves import Number, plan_of, value_of
from askwise.papers.gal2017.labels_to import authors_plan
from askwise.papers.images import image_set
from askwise.papers.pseudo import accuracy, pseudo_labels
from askwise.papers.record import Claim, Entry, Line, Pair, Place, Table
from askwise.runs.build import SIMULATED, learner, oracle
from askwise.runs.material import material
from askwise.seeding import derive
from askwise.store.facts import Answer


def run_many_labels(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """The error at the end of a run, and that of pseudo-labels learned from the same labels."""
    plan = plan_of(settings, seed)
    known = material(plan, data_dir=place.data_dir)
    with learner(plan, known, store=place.scratch / "run.db") as ours:
        ours.run(oracle=oracle(SIMULATED, plan, known))
        last = ours.rounds()[-1]
        asked = {fact.id for fact in ours.store.facts(Answer)}
    data, x, test_x = image_set(str(plan.data), place.data_dir)
    told = torch.tensor([name in asked for name in data.train_ids])
    network = nets.build(str(plan.network), size=x.shape[-1])
    reset(network, derive(seed, "papers", "pseudo"))
    options = {**settings["pseudo"], "seed": derive(seed, "papers", "pseudo")}
    pseudo_labels(network, (x[told], data.train_y[told]), x[~told], **options)
    return {
        "labels": last.labels,
        "error": 1 - last.metrics["test"]["accuracy"],
        "pseudo_error": 1 - accuracy(network, test_x, data.test_y),
    }


_TABLE_2 = {"random": "4.66", "BALD": "1.80", "VR, votes": "1.64", "entropy": "1.74"}


def _many(quick: bool) -> dict[str, Entry]:
    found = {}
    for name in _TABLE_2:
        plan = {
            "data": "digits" if quick else "mnist",
            **authors_plan(name, quick=quick, steps=100 if quick else 400),
            "classes": list("0123456789"),
            "initial": {"per_class": 2},
            "batch": 60 if quick else 10,
            "budget": 200 if quick else 1000,
            **({} if quick else {"pool_subset": 2000}),
        }
        settings = {
            "quick": quick,
            "plan": plan,
            "pseudo": {"steps": 300 if quick else 2000, "lr": 3e-3 if quick else 1e-3},
        }
        found[name] = Entry(
            name=f"1,000 labels, {name}",
            settings=settings,
            run=run_many_labels,
            seconds=6 if quick else 1500,
        )
    return found


def table_d(quick: bool) -> Table:
    """Table 2."""
    return Table(
        key="d",
        title=f"test error at {'200' if quick else '1,000'} labels, and pseudo-labels on the same labels",
        source="Table 2: error with 1,000 labels (5,000 more for validation); the semi-supervised numbers "
        "below are cited there.",
        protocol=(
            "Quick protocol, not comparable with theirs: the 8 x 8 digits of scikit-learn, digits_cnn, 20 + "
            "60 a round to 200 labels, 100 steps at 3e-3, 20 draws, 300 steps of pseudo-labels. "
            if quick
            else "20 + 10 a round to 1,000 labels, 400 steps, 100 draws, 2,000 pool items scored. "
        )
        + "The authors' network, MC dropout, no validation labels. Pseudo-labels (Lee 2013): a new network "
        "of the same kind learns the same labels and its guesses of all other training images; dropout off "
        "at test.",
        heads=("acquisition",),
        lines=[
            Line(words=(name,), entry=one, theirs={"error": _TABLE_2[name]})
            for name, one in _many(quick).items()
        ],
        columns=(
            Number("error", "test error, %", factor=100.0, theirs=True).column,
            Number("pseudo_error", "with pseudo-labels, %", factor=100.0).column,
        ),
        cited=(
            "Semi-supervised with 1,000 random labels, as Table 2 cites them, in % error: semi-supervised "
            "embedding 5.73, transductive SVM 5.38, MTC 3.64, pseudo-label 3.46, AtlasRBF 3.68, DGN 2.40, "
            "ladder (gamma) 1.53, virtual adversarial 1.32.",
        ),
    )


def claims() -> Sequence[Claim]:
    """What the paper says of Table 2."""
    return [
        Claim(
            sentence="With so many labels chosen by VR, BALD or entropy the error is below random's (Table "
            "2).",
            table="d",
            pairs=[
                Pair(
                    ours=f"1,000 labels, {name}",
                    baseline="1,000 labels, random",
                    measure=value_of("error", factor=100.0),
                    expected="lower",
                    words=f"{name} minus random, error in points",
                )
                for name in ("VR, votes", "BALD", "entropy")
            ],
        )
    ]
