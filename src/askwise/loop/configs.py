"""Posteriors and trainings as plain tables, so that a plan can be written down and read again."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from askwise.bayes.posteriors import POSTERIORS, Config, home
from askwise.errors import InputError, choose
from askwise.train import Training


def posterior_table(config: Any) -> dict[str, Any]:
    """A posterior's choices and its name."""
    return (
        dict(config) if isinstance(config, Mapping) else {"name": home(config).Config.name, **asdict(config)}
    )


def training_table(config: Any) -> dict[str, Any]:
    """A training's choices."""
    if isinstance(config, Mapping):
        return dict(config)
    if not isinstance(config, Training):
        raise InputError(f"training is a Training or a table of its options, not {config!r}")
    if callable(config.augment):
        raise InputError(
            "a function cannot be written into a plan; name augmentations: augment=('flip', 'shift')"
        )
    return asdict(config)


def posterior(choices: Mapping[str, Any]) -> Config:
    """The posterior that a table describes."""
    name = choose("posterior", str(choices.get("name", "")), POSTERIORS)
    rest = {key: value for key, value in choices.items() if key != "name"}
    made: Config = _made(f"posterior {name!r}", POSTERIORS[name].Config, rest)
    return made


def training(choices: Mapping[str, Any]) -> Training:
    """The training that a table describes."""
    made: Training = _made("training", Training, choices)
    return made


def _made(owner: str, record: Any, choices: Mapping[str, Any]) -> Any:
    for key in choices:
        choose(f"option of {owner}", key, [field.name for field in fields(record)])
    return record(**choices)
