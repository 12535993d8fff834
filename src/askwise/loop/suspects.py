"""Labels that the model disagrees with, and how good the annotators are: for a person to look at again."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from askwise.assess import Annotators, dawid_skene, folds, suspects
from askwise.bayes.fit import fit
from askwise.bayes.posteriors import as_posterior
from askwise.bayes.predict import predict
from askwise.errors import InputError
from askwise.loop.agreement import blind_words
from askwise.loop.plan_rules import one_class
from askwise.loop.setting import Setting
from askwise.seeding import derive
from askwise.store.facts import Answer
from askwise.store.labels import Label, class_number
from askwise.train import as_training

_FOLDS = 5
_LEAST = 10  # labels: with fewer a model trained without some of them says nothing
_SHARED = 10
"""Items for each class that an annotator must have answered beside another, before anything is said of them.

The model begins with two invented answers of every annotator for each class, of which little more than half
are right: beside ten real ones they weigh a sixth, beside two they would be half of what is said.
"""


@dataclass(frozen=True)
class Suspect:
    """A label that a model trained without it finds unlikely."""

    id: str
    name: str
    label: str
    likelier: str
    probability: float
    """Of the label as it was given."""
    likelier_probability: float


def suspects_of(setting: Setting, *, count: int | None = None) -> list[Suspect]:
    """Given labels, the most suspect first, by models trained on the other four fifths of the labels."""
    one_class(setting.plan, "a list of suspects")
    setting.refresh()
    labels = {name: class_number(label) for name, label in sorted(setting.ledger.labels.items())}
    reading = setting.pool.read([name for name in labels if name in setting.pool])
    if len(reading.ids) < _LEAST:
        raise InputError(
            f"suspects need at least {_LEAST} labels, and there are {len(reading.ids)}; answer more first"
        )
    given = torch.tensor([labels[name] for name in reading.ids])
    found = suspects(
        cross_fitted(setting, reading.ids, reading.inputs, given),
        given,
        count=count,
        seed=setting.plan.seed,
        ids=reading.ids,
    )
    classes = setting.plan.classes
    return [
        Suspect(
            reading.ids[at],
            setting.pool.name(reading.ids[at]),
            classes[int(given[at])],
            classes[likelier],
            own,
            other,
        )
        for at, likelier, own, other in zip(
            found.positions.tolist(),
            found.likelier.tolist(),
            found.given_probability.tolist(),
            found.likelier_probability.tolist(),
            strict=True,
        )
    ]


def annotators_of(setting: Setting) -> tuple[list[str], Annotators] | None:
    """The people who answered and how good each is; None where too few items were answered by several.

    Items that one alone has answered are left out: there the model would take that answer's word for itself.
    """
    one_class(setting.plan, "a comparison of annotators")
    least = _SHARED * len(setting.plan.classes)
    words = _shared(blind_words(setting.store.facts(Answer), setting.ledger.refresh().rules), least)
    last = {(name, who): class_number(label) for name, said in words.items() for who, label in said.items()}
    items = sorted({name for name, _ in last})
    people = sorted({who for _, who in last})
    if not last:
        return None
    item, person = ({name: at for at, name in enumerate(names)} for names in (items, people))
    found = dawid_skene(
        [item[name] for name, _ in last],
        [person[who] for _, who in last],
        list(last.values()),
        classes=len(setting.plan.classes),
    )
    return people, found


def _shared(words: Mapping[str, Mapping[str, Label]], least: int) -> dict[str, dict[str, Label]]:
    """What was said of items by several people, each of whom shares at least so many with the others."""
    found = {name: dict(said) for name, said in words.items() if len(said) > 1}
    while True:
        count = Counter(who for said in found.values() for who in said)
        few = {who for who, items in count.items() if items < least}
        if not few:
            return found
        left = {
            name: {who: one for who, one in said.items() if who not in few} for name, said in found.items()
        }
        found = {name: said for name, said in left.items() if len(said) > 1}


def cross_fitted(setting: Setting, ids: list[str], inputs: Tensor, given: Tensor) -> Tensor:
    """Log-probabilities [N, C] of every item by a model that has not seen its label."""
    plan = setting.plan
    training = replace(as_training(plan.training), patience=None)
    log_probs = torch.empty(len(ids), len(plan.classes))
    fold = folds(ids, count=_FOLDS, seed=plan.seed)
    for number in range(_FOLDS):
        rest, mine = (fold != number).nonzero().squeeze(1), (fold == number).nonzero().squeeze(1)
        seed = derive(plan.seed, "suspects", number)
        fitted = fit(
            setting.network,
            (inputs[rest], given[rest]),
            posterior=as_posterior(plan.posterior),
            task="classification",
            training=training,
            start="given" if plan.start == "given" else "scratch",
            seed=seed,
            device=plan.device,
            ids=[ids[at] for at in rest.tolist()],
        )
        found = predict(fitted, inputs[mine], draws=plan.draws, seed=seed, engine=setting.engine)
        log_probs[mine] = found.mean.cpu().clamp(min=1e-12).log()
    return log_probs.log_softmax(dim=1)
