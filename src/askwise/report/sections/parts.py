"""What several sections are made of: the section itself, tables, and notes below charts."""

from collections.abc import Sequence

from askwise.markup import Html, Part, join, tag


def section(anchor: str, title: str, *parts: Part, lead: Part = None) -> Html:
    """A section with its heading and, below it, a sentence that says how to read it."""
    return tag(
        "section",
        tag("h2", title),
        tag("p", lead, class_="lead") if lead is not None else None,
        *parts,
        id=anchor,
    )


def table(head: Sequence[Part], rows: Sequence[Sequence[Part]], *, title: str, kind: str = "") -> Html:
    """A table whose first column names the rows; it scrolls sideways where the page is narrow."""
    top = tag("tr", *[tag("th", cell, scope="col") for cell in head])
    body = [tag("tr", tag("th", row[0], scope="row"), *[tag("td", cell) for cell in row[1:]]) for row in rows]
    whole = tag("table", tag("thead", top), tag("tbody", *body), class_=kind or None)
    # The title stays in place while the table scrolls; focus lets the keyboard scroll it.
    return join(
        tag("h3", title), tag("div", whole, class_="scroll", tabindex=0, role="region", aria_label=title)
    )


def folded(summary: str, *parts: Part) -> Html:
    """Details that open on request."""
    return tag("details", tag("summary", summary), *parts)


def figure(chart: Html, *, title: str = "", note: Part = None, above: Part = None) -> Html:
    """A chart with its title and a note."""
    heading = tag("h3", title) if title else None
    return tag("figure", heading, above, chart, tag("figcaption", note) if note else None)


def name(written: str) -> Html:
    """A name that somebody else chose, kept apart from the direction of the text around it."""
    return tag("bdi", written)


def lines(*parts: Part) -> Html:
    """Parts, each on its own line."""
    return join(*[tag("span", part, class_="line") for part in parts if part])
