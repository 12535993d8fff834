"""Markup that escapes by construction: only what `tag` and `join` made is ever taken as it is."""

import html
import re

from askwise.report.number import Number

_VOID = {"br", "img", "meta"}
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Part = Html | str | int | None


def text(part: Part) -> Html:
    """The part as markup: markup stays, None is nothing, anything else is escaped."""
    if isinstance(part, Html):
        return part
    if part is None:
        return Html("")
    # Names of files may hold bytes that are no text, and control characters: neither can be shown.
    clean = str(part).encode("utf-8", "replace").decode("utf-8")
    return Html(html.escape(_CONTROLS.sub("�", clean), quote=True))


def join(*parts: Part) -> Html:
    """The parts one after the other."""
    return Html("".join(text(part) for part in parts))


def tag(name: str, /, *children: Part, **attributes: str | Number | None) -> Html:
    """One element: `class_` is class, `aria_label` is aria-label, None leaves an attribute out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(_short(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(*children)}</{name}>")


def _short(value: str | Number) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
