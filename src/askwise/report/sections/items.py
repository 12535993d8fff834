"""The items themselves: what was asked, in order, and what the model is still unsure about."""

from base64 import b64encode
from collections.abc import Sequence
from itertools import groupby

from askwise.markup import Html, tag
from askwise.report import wording
from askwise.report.content import Content, Shown
from askwise.report.pictures import colour
from askwise.report.sections.parts import folded, name, section

_OPEN = 3  # rounds shown unfolded at either end
_LONGEST = 280  # characters of a text


def asked(content: Content) -> Html:
    """Every question in the order it was asked, by round."""
    if not content.asked:
        return Html("")
    rounds = [(number, list(items)) for number, items in groupby(content.asked, key=lambda item: item.round)]
    drawn = [_round(number, items) for number, items in rounds]
    if len(drawn) > 2 * _OPEN + 1:
        hidden = drawn[_OPEN:-_OPEN]
        first, last = rounds[_OPEN][0], rounds[-_OPEN - 1][0]
        drawn = [*drawn[:_OPEN], folded(f"Rounds {first} to {last}", *hidden), *drawn[-_OPEN:]]
    wrong = sum(_mistaken(item) for item in content.asked)
    known = sum(item.judged and item.label is not None and item.guess is not None for item in content.asked)
    lead = "In the order they were asked, with their scores, the model's guesses and the answers."
    if content.asked_in_all > len(content.asked):
        whole, half = wording.count(content.asked_in_all), len(content.asked) // 2
        lead += f" Of {whole} the first and last {half} are shown."
    if known:
        lead += f" It would have been wrong about {wrong} of {known}."
    return section("asked", "What it asked", _legend(content, content.asked), *drawn, lead=lead)


def unsure(content: Content) -> Html:
    """The items whose scores are still the highest."""
    if not content.unsure:
        return Html("")
    lead = "The highest scores that are left: what it would ask next."
    legend = _legend(content, content.unsure)
    if legend:
        lead += " Below each item: the mask it would draw, and where it is uncertain, bright where most."
    return section("unsure", "What it is still unsure about", legend, _cards(content.unsure), lead=lead)


def _legend(content: Content, items: Sequence[Shown]) -> Html:
    """The colours of the classes, where masks are shown."""
    if not any(item.more for item in items):
        return Html("")
    listed = [
        tag("li", tag("span", style=f"background:{colour(number)}"), name(label))
        for number, label in enumerate(content.classes)
    ]
    return tag("ul", *listed, class_="colours")


def _round(number: int | None, items: Sequence[Shown]) -> Html:
    said = f"Round {number}" if number else "Before the first round"
    heading = tag("h3", said, class_="round") if number is not None else None
    return tag("div", heading, _cards(items), class_="asked-round")


def _cards(items: Sequence[Shown]) -> Html:
    kind = "cards texts" if all(item.picture is None for item in items) else "cards"
    return tag("ol", *[_card(item) for item in items], class_=kind)


def _card(item: Shown) -> Html:
    score = tag("span", wording.decimal(item.score), class_="score") if item.score is not None else None
    return tag(
        "li",
        _picture(item),
        *[_beside(item, said, picture) for said, picture in item.more],
        score,
        tag("span", *_thought(item), class_="thought"),
        class_="card wrong" if _mistaken(item) else "card",
        title=item.id,
    )


def _picture(item: Shown) -> Html:
    if item.picture is not None:
        source = f"data:image/png;base64,{b64encode(item.picture).decode()}"
        return tag("img", src=source, alt=_described(item), loading="lazy")
    words = item.text if item.text is not None else item.id
    short = words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"
    return tag("p", name(short), class_="words")


def _beside(item: Shown, said: str, picture: bytes) -> Html:
    source = f"data:image/png;base64,{b64encode(picture).decode()}"
    return tag("img", src=source, alt=f"item {item.id}, {said}", title=said, loading="lazy")


def _described(item: Shown) -> str:
    parts = [f"item {item.id}"]
    if item.guess is not None:
        parts.append(f"guess {item.guess}")
    if item.label is not None:
        parts.append(f"answer {item.label}")
    return ", ".join(parts)


def _thought(item: Shown) -> list[Html]:
    parts = []
    if item.guess is not None:
        sure = f" {wording.percent(item.sure, digits=0)}" if item.sure is not None else ""
        parts.append(tag("span", name(item.guess), tag("small", sure) if sure else None, class_="guess"))
    if item.label is not None:
        parts.append(tag("span", "→ " if parts else "", name(item.label), class_="answer"))
    return parts


def _mistaken(item: Shown) -> bool:
    return item.judged and item.label is not None and item.guess is not None and item.label != item.guess
