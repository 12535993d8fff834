"""The last word on a run: a model of all answers, test answers included, and the limit from before it."""

from askwise.bayes.fitted import Fitted
from askwise.errors import InputError
from askwise.loop.models import fit_round
from askwise.loop.quality import Quality, quality
from askwise.loop.setting import Setting


def final_model(setting: Setting) -> tuple[Fitted, int, Quality | None]:
    """The model of all answers, how many these are, and how good the model before it is.

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
    before = quality(setting.plan, testing, setting.rounds)
    return fit_round(setting, setting.number + 1, reading, whole), len(reading.ids), before
