"""Sentences on how good a model is: promises, estimates and a forecast, each marked as such."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from askwise.assess import PROMISE, Band, Forecast
from askwise.loop.quality import VOID, Quality


def as_json(found: Quality, classes: Sequence[str]) -> dict[str, Any]:
    """All of it as plain values, with the words of the promise and the sentences of `said`."""
    told: dict[str, Any] = _plain(asdict(found))
    return {**told, "promise": PROMISE, "void": VOID, "said": said(found, classes)}


def said(found: Quality, classes: Sequence[str]) -> list[tuple[str, str]]:
    """Heads and sentences for a status: the band, recall by class, what the next labels should bring."""
    if found.accuracy is not None:
        lines = [("quality", f"accuracy {between(found.accuracy)} (95 %); {_answers(found.accuracy)}")]
    elif found.tags:
        lines = [("quality", f"accuracy of every tag (95 % for all together); {found.answers} test answers")]
        lines += [("", f"{name} {between(one)}") for name, one in found.tags.items()]
    else:
        lines = [("quality", f"not known: {found.why}")]
    if found.recalls is not None:
        lines.append(("", f"balanced accuracy {between(found.recalls.balanced)}"))
        known = [
            (name, one) for name, one in zip(classes, found.recalls.classes, strict=True) if one is not None
        ]
        lines += [("", f"recall of {name} {between(one)}, {one.answers} test answers") for name, one in known]
    if found.estimates:
        told = ", ".join(f"{name} {value:.3f}" for name, value in found.estimates.items())
        lines.append(("", f"estimates on the test answers, without a promise: {told}"))
    if found.accuracy is not None or found.tags:
        if found.added:
            lines.append(("", since_then(found.added)))
        lines.append(("", f"{PROMISE} {VOID}"))
    if found.forecast is not None:
        lines.append(("", forecast_sentence(found.forecast)))
    return lines


def between(one: Band) -> str:
    """The limits of a band, e.g. `between 79.1 and 94.0 %`."""
    return f"between {100 * one.low:.1f} and {100 * one.high:.1f} %"


def measured_on(one: Band) -> str:
    """What a band rests on, e.g. `40 test answers of 12 groups; 5 % of the test items have none`."""
    answers = f"{one.answers} test answers" + ("" if one.groups is None else f" of {one.groups} groups")
    return answers if not one.skipped else f"{answers}; {100 * one.skipped:.0f} % of the test items have none"


def since_then(added: int) -> str:
    """What a band leaves out, after so many items were added to those kept for testing."""
    return (
        f"{added:,} of the items that were added since the last training are kept for testing: the band "
        "speaks of the earlier ones"
    )


def forecast_sentence(one: Forecast) -> str:
    """The gain of the next labels in points, and what such a sentence is worth."""
    gain, low, high = (100 * value for value in (one.gain, one.low, one.high))
    next_ = f"the next {one.ahead} labels should bring about {gain:.1f} points ({low:.1f} to {high:.1f})"
    return f"a forecast, which was too low on three of four sets: {next_}"


def _plain(value: Any) -> Any:
    """The value with None where a number is none: JSON has no NaN."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _answers(one: Band) -> str:
    right = f"{100 * one.share:.1f} %" if one.answers else "none"
    among = "" if one.groups is None else f", as a mean over {one.groups} groups,"
    told = f"{right} of {one.answers} test answers{among} are right"
    if not one.skipped:
        return told
    return (
        f"{told}; {100 * one.skipped:.0f} % of the test items were skipped or are not settled, and count as "
        "wrong in the lower limit"
    )
