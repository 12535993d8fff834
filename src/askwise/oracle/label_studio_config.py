"""The labelling configuration of Label Studio: which control gives labels, and whether they fit."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

from askwise.errors import InputError
from askwise.oracle.label_studio import CONTROL
from askwise.oracle.labelling import Labelling, TagSets, Values

_LONGEST = 2**20  # letters of a configuration


@dataclass(frozen=True)
class Interface:
    """The control of a labelling interface that labels come from, and the object that it is about."""

    control: str | None
    to: str


def interface(config: str, kind: Labelling, *, what: str) -> Interface:
    """The part of a labelling configuration that fits the labels; choices other than theirs are refused."""
    if "<!" in re.sub(r"<!--.*?-->", "", config, flags=re.DOTALL) or len(config) > _LONGEST:
        raise InputError(f"{what}: a labelling configuration has no <! declarations; it cannot be read")
    try:
        root = ElementTree.fromstring(config)  # noqa: S314 - without declarations there is nothing to expand
    except ElementTree.ParseError as error:
        raise InputError(f"{what}: the labelling configuration is no XML: {error}") from None
    tag = "Number" if isinstance(kind, Values) else "Choices"
    found = [one for one in root.iter(tag) if one.get("name") and one.get("toName")]
    if isinstance(kind, Values) and len(kind.names) > 1:
        missing = sorted(set(kind.names) - {str(one.get("name")) for one in found})
        if missing:
            raise InputError(f"{what} has no <Number name={missing[0]!r}>, which the project here has")
        return Interface(None, str(found[0].get("toName")))
    chosen = next((one for one in found if one.get("name") == CONTROL), found[0] if len(found) == 1 else None)
    if chosen is None:
        raise InputError(
            f"{what} has {len(found)} <{tag}>; the one that is the label must be called {CONTROL!r}"
        )
    if tag == "Choices":
        values = {str(one.get("value")) for one in chosen.iter("Choice")}
        _refuse_other(values, set(kind.names), what)
        if isinstance(kind, TagSets) != (chosen.get("choice", "single") == "multiple"):
            raise InputError(
                f'{what}: <Choices> of tags say choice="multiple", of classes choice="single"; '
                f"this one says {chosen.get('choice', 'single')!r}"
            )
    return Interface(str(chosen.get("name")), str(chosen.get("toName")))


def _refuse_other(values: set[str], names: set[str], what: str) -> None:
    if values != names:
        only = sorted(values - names) or sorted(names - values)
        where = "in Label Studio" if values - names else "here"
        raise InputError(
            f"{what} offers {', '.join(sorted(values))}, and the project here {', '.join(sorted(names))}; "
            f"{only[0]!r} is only {where}: let both have the same"
        )
