"""Markup that escapes by construction: only what `tag` and `join` made is ever taken as it is."""

import html
import re
from collections.abc import Iterable

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


def tag(name: str, /, *children: Part, **attributes: str | int | float | None) -> Html:
    """One element: `class_` is class, `aria_label` is aria-label, None leaves an attribute out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(_short(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(*children)}</{name}>")


def card(title: Part, facts: Iterable[tuple[str, Part]], *below: Part) -> str:
    """A small table of facts under a title, for the cell of a notebook; no style but lines of its own."""
    rows = [
        tag("tr", tag("th", key, style="text-align:left"), tag("td", value, style="text-align:left"))
        for key, value in facts
        if value not in (None, "")
    ]
    return str(tag("div", tag("strong", title), tag("table", tag("tbody", *rows)), *below))


def framed(page: str, *, height: int = 600) -> str:
    """A whole page inside the cell of a notebook; no script of it runs."""
    look = f"width:100%;height:{height}px;border:1px solid #8888"
    return str(tag("iframe", srcdoc=page, sandbox="", style=look, title="report"))


def _short(value: str | int | float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
