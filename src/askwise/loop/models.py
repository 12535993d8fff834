"""The model of the last round: kept in memory, read from its checkpoint, or trained again from the facts."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from askwise.bayes.calibrate import calibrate
from askwise.bayes.fit import fit
from askwise.bayes.fitted import Fitted, load
from askwise.bayes.posteriors import as_posterior
from askwise.errors import CorruptError, InputError, SlowPathWarning
from askwise.loop.axes import place_axes
from askwise.loop.calibration import TEST_ANSWERS, noted, with_temperature
from askwise.loop.plan import make
from askwise.loop.quality import Quality, quality
from askwise.loop.setting import Setting, differs
from askwise.pool.source import Reading
from askwise.seeding import derive
from askwise.store.facts import Planned, Restored, Round
from askwise.store.kept import as_kept
from askwise.store.labels import Label
from askwise.train import as_training


def latest(setting: Setting) -> tuple[int, Fitted | None]:
    """The number of the last round, and its model; none before the first, or if it knows other features."""
    last = setting.last()
    if last is None:
        return 0, None
    found = setting.fitted.get(last.number)
    if found is None:
        if getattr(setting.network, "on_features", False) and differs(setting.store, last, "encoder"):
            return last.number, None
        found = _restored(setting, last)
        setting.remember(last.number, found)
    return last.number, found


def handed_over(setting: Setting) -> tuple[int, Fitted | None]:
    """The number of the last round, and its model as it is shown and exported: with its temperature."""
    number, fitted = latest(setting)
    own = next((one for one in reversed(setting.rounds) if one.number == number), None)
    return number, fitted if fitted is None or own is None else with_temperature(fitted, noted(own))


def fit_round(setting: Setting, number: int, reading: Reading, labels: Mapping[str, Label]) -> Fitted:
    """The model of a round: everything about it follows from the plan, its number and its labels."""
    plan = setting.plan
    start: Literal["given", "scratch"] | Fitted = "given"
    if plan.start != "warm":
        start = plan.start
    elif (before := model_before(setting, number)) is not None:
        start = before
    place_axes(setting, number)
    held = setting.measured.get("validation")
    validation = None if held is None else (held.inputs, held.labels)
    fitted = fit(
        setting.network,
        (reading.inputs, setting.rows(labels[name] for name in reading.ids)),
        posterior=as_posterior(plan.posterior),
        task=setting.task,
        training=as_training(plan.training),
        start=start,
        seed=derive(plan.seed, "fit", number),
        device=plan.device,
        ids=reading.ids,
        validation=validation,
        progress=setting.follow,
    )
    fitted = replace(fitted, classes=plan.names, preparation=setting.preparation())
    if validation is None or plan.calibrate is False or plan.kind == "regression":
        return fitted
    return calibrate(fitted, validation, draws=plan.draws, seed=plan.draw_seed(number))


def model_before(setting: Setting, number: int) -> Fitted | None:
    """The model that a round goes on from: that of the round before."""
    past = [one for one in setting.rounds if one.number < number]
    if not past:
        return None
    known = setting.fitted.get(past[-1].number)
    if known is None and past[-1] is setting.rounds[-1]:
        return latest(setting)[1]
    return known if known is not None else _restored(setting, past[-1])


def in_use(setting: Setting, number: int) -> list[str]:
    """The checkpoints that stay beside the one of a round: those of the last others."""
    kept = as_kept(setting.store, setting.rounds)
    others = [one.checkpoint for one in kept if one.checkpoint and one.number != number]
    return others[-setting.plan.keep :]


def keep_model(setting: Setting, past: Round, fitted: Fitted) -> None:
    """Put the model of a round on the disk, and note where, unless the facts tell it already."""
    [known] = as_kept(setting.store, [past])
    name = setting.store.checkpoint(fitted.save, keep=in_use(setting, past.number))
    weights = fitted.digest()
    if (name, weights) != (known.checkpoint, known.weights):
        setting.store.append([Restored(round=past.number, weights=weights, checkpoint=name)])


def _restored(setting: Setting, past: Round) -> Fitted:
    """The model of a round from its checkpoint; a lost or damaged one is trained again, which is said."""
    why = "a store in memory keeps no models"
    [last] = as_kept(setting.store, [past])
    if setting.store.folder is not None and not last.checkpoint:
        why = f"round {last.number} left no model on the disk, as rounds between two checkpoints do"
    elif setting.store.folder is not None:
        place = setting.store.folder / last.checkpoint
        try:
            fitted = load(place, network=setting.network)
            if fitted.digest() == last.weights:
                return fitted
            why = f"checkpoint {last.checkpoint} is not the one of round {last.number}"
        except CorruptError as error:
            why = str(error)
        except InputError as error:
            if (place / "manifest.json").is_file():  # it is whole, and of another network than this
                raise
            why = str(error)
    with setting.acting:
        return _trained_again(setting, last, why)


def _trained_again(setting: Setting, last: Round, why: str) -> Fitted:
    plans = [fact for fact in setting.store.facts(Planned) if fact.revision <= last.revision]
    then = replace(setting, plan=make(plans[-1].plan)) if plans else setting
    labels = setting.ledger.labels_at(last.seen)
    reading = setting.pool.read([name for name in labels if name in setting.pool])
    if not reading.ids:
        raise CorruptError(f"{why}, and none of its {last.labels} items can be read to train it again")
    fitted = fit_round(then, last.number, reading, labels)
    same = fitted.digest() == last.weights
    if setting.store.folder is not None:
        keep_model(setting, last, fitted)
    how = "and is the same to the bit" if same else "under other conditions, so that its weights differ"
    labelled = f"from its {len(reading.ids)} labels"
    warnings.warn(
        f"{why}; the model of round {last.number} was trained again {labelled}, {how}",
        SlowPathWarning,
        stacklevel=4,
    )
    return fitted


def final_model(setting: Setting) -> tuple[Fitted, int, Quality | None]:
    """The model of all answers, how many these are, and how good the model before it is.

    Test answers chose the temperature of the model before it, which it takes over: it has learned from them.
    The store is left as it is, so that the run can go on: its own models never learn from test answers.
    """
    setting.refresh()
    testing = setting.testing()
    answered = {one.id: one.label for one in testing.tested() if one.label is not None}
    labels = {**setting.ledger.labels, **answered}
    if not setting.rounds:
        raise InputError("there is no model yet; answer the first questions before you finish")
    whole = dict(sorted(labels.items()))
    reading = setting.pool.read([name for name in whole if name in setting.pool])
    before = quality(setting.plan, testing, setting.last())
    fitted = fit_round(setting, setting.number + 1, reading, whole)
    told = noted(setting.rounds[-1])  # validation data have chosen anew; no test answer is left to do so
    if told is not None and told.by == TEST_ANSWERS:
        fitted = with_temperature(fitted, told)
    return fitted, len(reading.ids), before
