"""Class by class: what is taken for what, what is found, and how the labels are distributed."""

from collections.abc import Sequence

from askwise.markup import Html, join, tag
from askwise.report import wording
from askwise.report.content import Content, Number
from askwise.report.sections.parts import name, section

_CELLS = 25  # classes up to which the whole matrix is shown
_WORST = 6
_BARS = 100  # more make a page too long to read


def confusion(content: Content) -> Html:
    """The confusion matrix and the mistakes that are made most often."""
    if not content.confusion:
        return Html("")
    whole = _matrix(content) if len(content.classes) <= _CELLS else None
    lead = "Test items of each class (rows) by what the model took them for (columns)." if whole else None
    return section(
        "confusion", "What it mixes up", tag("div", whole, _mistakes(content), class_="beside"), lead=lead
    )


def recall(content: Content) -> Html:
    """How much of each class is found."""
    lead = "The share of each class's test items that the model tells right (recall)"
    return _shares("recall", "Found of each class", lead, content.classes, content.recall)


def overlap(content: Content) -> Html:
    """How far the masks of each class lie over the true ones."""
    lead = "Pixels of each class that are true and guessed, by those that are either (intersection by union)"
    return _shares("overlap", "Overlap of each class", lead, content.classes, content.overlap)


def _shares(
    anchor: str, title: str, lead: str, classes: Sequence[str], shares: Sequence[Number | None]
) -> Html:
    """A section with one share for each class; None where the test has none of it."""
    known = [share for share in shares if share is not None]
    if not known:
        return Html("")
    mean = sum(known) / len(known)
    rows = [
        (label, share or 0, "none in the test" if share is None else wording.percent(share))
        for label, share in zip(classes, shares, strict=True)
    ]
    line = f"the line marks the mean, {wording.percent(mean)}"
    return section(anchor, title, _bars(rows, line=mean), lead=f"{lead}; {line}.")


def balance(content: Content) -> Html:
    """How many labels each class has."""
    if not content.balance or not sum(content.balance):
        return Html("")
    largest, total = max(content.balance), sum(content.balance)
    even = total / len(content.balance)
    rows = [
        (
            label,
            count / largest,
            join(wording.count(count), tag("small", f" · {wording.percent(count / total, digits=0)}")),
        )
        for label, count in zip(content.classes, content.balance, strict=True)
    ]
    line = f"the line marks an even share of {wording.count(round(even, 1))}"
    lead = f"{wording.count(total)} labels to learn from; {line}."
    return section("balance", "Labels of each class", _bars(rows, line=even / largest), lead=lead)


def _bars(rows: Sequence[tuple[str, Number, Html | str]], *, line: Number) -> Html:
    """A bar for each class, its length from 0 to 1, with what is written beside it; of many the first."""
    listed = [
        tag(
            "li",
            tag("span", name(label), class_="what"),
            tag("span", tag("span", class_="fill", style=f"width:{100 * length:.1f}%"), class_="track"),
            tag("span", said),
        )
        for label, length, said in rows[:_BARS]
    ]
    bars = tag("ul", *listed, class_="balance", style=f"--even:{100 * line:.1f}%")
    return bars if len(rows) <= _BARS else join(bars, tag("p", f"The first {_BARS} of {len(rows):,}."))


def _matrix(content: Content) -> Html:
    head = tag("tr", tag("td"), *[tag("th", name(label), scope="col") for label in content.classes])
    rows = []
    for truth, row in enumerate(content.confusion):
        total = sum(row) or 1
        cells = [_cell(count, count / total, hit=truth == guess) for guess, count in enumerate(row)]
        rows.append(tag("tr", tag("th", name(content.classes[truth]), scope="row"), *cells))
    whole = tag(
        "table",
        tag("caption", "Confusion matrix", class_="unseen"),
        tag("thead", head),
        tag("tbody", *rows),
        class_="matrix",
    )
    return tag("div", whole, class_="scroll", tabindex=0, role="region", aria_label="Confusion matrix")


def _cell(count: int, share: Number, *, hit: bool) -> Html:
    if not count:
        return tag("td", "·", class_="none")
    # Mistakes are few: the root makes their shades visible beside the diagonal's.
    shade = 0.75 * share if hit else min(0.8, 0.12 + share**0.5)
    return tag("td", wording.count(count), class_="hit" if hit else "miss", style=f"--shade:{shade:.2f}")


def _mistakes(content: Content) -> Html:
    found = [
        (count, truth, guess)
        for truth, row in enumerate(content.confusion)
        for guess, count in enumerate(row)
        if truth != guess and count
    ]
    if not found:
        return tag("p", "No mistakes on the test items.")
    worst = sorted(found, key=lambda mistake: (-mistake[0], mistake[1:]))[:_WORST]
    listed = [
        tag("li", name(content.classes[truth]), " taken for ", name(content.classes[guess]), f": {count}")
        for count, truth, guess in worst
    ]
    return tag("div", tag("h3", "Most often mistaken"), tag("ul", *listed, class_="mistakes"))
