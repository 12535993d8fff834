"""The loop: decide, perform, until there is nothing to do without an answer."""

from collections.abc import Callable
from typing import TypeAlias

from askwise.engine import kept
from askwise.loop.answers import tell
from askwise.loop.decide import Action, Stop, Wait, decide
from askwise.loop.opening import sync_grown
from askwise.loop.perform import perform
from askwise.loop.questions import open_questions
from askwise.loop.setting import Setting
from askwise.oracle.contract import Corrector, Oracle

PATIENCE = 100
"""How often in a row an oracle may have no answer before the loop returns."""

OnAction: TypeAlias = Callable[[Action], None]
"""Called with every action before it is performed."""


def advance(setting: Setting, *, on_action: OnAction | None = None) -> Wait | Stop:
    """What the run needs now that everything it can do by itself is done."""
    with setting.acting:
        while True:
            sync_grown(setting)
            action = decide(setting.plan, setting.refresh())
            if on_action is not None:
                on_action(action)
            if isinstance(action, Wait | Stop):
                return action
            perform(action, setting)


def run(setting: Setting, oracle: Oracle, *, on_action: OnAction | None = None) -> Wait | Stop:
    """How the run ended: it stopped, or it waits for answers that the oracle does not have."""
    idle = 0
    if isinstance(oracle, Corrector):
        _correct(setting, oracle)
    with kept(setting.engine):
        while idle < PATIENCE:
            outcome = advance(setting, on_action=on_action)
            if isinstance(outcome, Stop):
                return outcome
            told = oracle.answer(open_questions(setting))
            before = setting.store.revision
            tell(setting, told, annotator=type(oracle).__name__.lower())
            # a question may want more answers than one oracle has
            idle = 0 if setting.store.revision > before else idle + 1
    return outcome


def _correct(setting: Setting, oracle: Corrector) -> None:
    """Tell what the oracle says otherwise by now of items that it answered before."""
    annotator = type(oracle).__name__.lower()
    setting.ledger.refresh()
    own = {
        name: label
        for name, label in setting.ledger.labels.items()
        if setting.ledger.history(name)[-1].annotator == annotator
    }
    changed = oracle.corrections(own)
    if changed:
        tell(setting, changed, annotator=annotator)
