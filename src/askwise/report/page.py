"""The report as one HTML file: it loads nothing, runs nothing and fits light, dark and a phone."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from askwise.files import target, write_whole
from askwise.markup import Html, join, tag
from askwise.report import wording
from askwise.report.content import Content
from askwise.report.sections import calibration, classes, items, measures, results, running

# No script and no address is allowed; styles are inline because places in charts are.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

_SECTIONS = (
    ("curves", "Curves", results.curves),
    ("quality", "How good", calibration.quality),
    ("calibration", "Calibration", calibration.calibration),
    ("metrics", "Metrics", measures.measures),
    ("points", "Numbers", measures.points),
    ("asked", "Asked", items.asked),
    ("unsure", "Unsure", items.unsure),
    ("confusion", "Mix-ups", classes.confusion),
    ("overlap", "Overlap", classes.overlap),
    ("recall", "Recall", classes.recall),
    ("balance", "Balance", classes.balance),
    ("times", "Time", running.times),
    ("plan", "Plan", running.plan),
)


def render(content: Content) -> str:
    """The whole page."""
    made = [(anchor, short, build(content)) for anchor, short, build in _SECTIONS]
    present = [(anchor, short, part) for anchor, short, part in made if part]
    links = [tag("a", short, href=f"#{anchor}") for anchor, short, _ in present]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", content.title),
        tag("style", _style()),
    )
    body = tag(
        "body",
        _header(content),
        tag("nav", *links, aria_label="Sections") if len(links) > 1 else None,
        tag("main", results.headline(content), *_with_subject(content, present)),
        tag("footer", join("Made by askwise", f", {content.made}" if content.made else "", ".")),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def write(content: Content, path: str | Path) -> Path:
    """The path, where the page now is; a reader never sees half of it."""
    place = target(path)
    write_whole(place, render(content).encode())
    return place


def _header(content: Content) -> Html:
    pairs = [
        tag("div", tag("dt", tag("bdi", key)), tag("dd", tag("bdi", value)))
        for key, value in wording.flat(content.facts)
    ]
    facts = tag("dl", *pairs, class_="facts") if pairs else None
    return tag("header", tag("h1", tag("bdi", content.title)), facts)


def _with_subject(content: Content, present: list[tuple[str, str, Html]]) -> list[Html]:
    parts = [part for _, _, part in present]
    if content.subject and len(parts) > 1 and present[0][0] == "curves":
        parts.insert(
            1, tag("p", "The sections below are about ", tag("bdi", content.subject), ".", class_="subject")
        )
    return parts


@cache
def _style() -> Html:
    return Html(files("askwise.report").joinpath("style.css").read_text(encoding="utf-8"))
