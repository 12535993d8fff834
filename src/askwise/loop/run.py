"""The loop: decide, perform, until there is nothing to do without an answer."""

from collections.abc import Callable

from askwise.engine import kept
from askwise.loop.answers import tell
from askwise.loop.decide import Action, Stop, Wait, decide
from askwise.loop.opening import sync_grown
from askwise.loop.perform import perform
from askwise.loop.setting import Setting
from askwise.oracle.contract import Oracle

PATIENCE = 100
"""How often in a row an oracle may have no answer before the loop returns."""

Watch = Callable[[Action], None]
"""Told of every action before it is performed."""


def advance(setting: Setting, *, watch: Watch | None = None) -> Wait | Stop:
    """What the run needs now that everything it can do by itself is done."""
    while True:
        sync_grown(setting)
        action = decide(setting.plan, setting.refresh())
        if watch is not None:
            watch(action)
        if isinstance(action, Wait | Stop):
            return action
        perform(action, setting)


def run(setting: Setting, oracle: Oracle, *, watch: Watch | None = None) -> Wait | Stop:
    """How the run ended: it stopped, or it waits for answers that the oracle does not have."""
    idle = 0
    with kept(setting.engine):
        while idle < PATIENCE:
            outcome = advance(setting, watch=watch)
            if isinstance(outcome, Stop):
                return outcome
            told = oracle.answer(setting.ledger.questions())
            tell(setting, told, author=type(oracle).__name__.lower())
            idle = 0 if told else idle + 1
    return outcome
