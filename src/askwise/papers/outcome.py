"""What the runs of a paper came to: tables, claims and pictures, as Markdown and as a page."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from askwise.files import write_whole
from askwise.markup import Html, tag
from askwise.papers.claims import Decided, decide
from askwise.papers.curves import curve, having, mean_list
from askwise.papers.record import Paper, Results, Table
from askwise.papers.work import commits, results, rows, runs_file, spent
from askwise.report.figure import figure, save, shares_figure


@dataclass(frozen=True)
class Section:
    """One table under one protocol: its cells as written, and its pictures by their titles."""

    table: Table
    quick: bool
    head: Sequence[str]
    cells: Sequence[Sequence[str]]
    pictures: Mapping[str, Path]
    found: Results

    def short(self) -> tuple[list[str], list[list[str]]]:
        """Head and lines for a narrow screen: one column of words, theirs in brackets below ours."""
        first = len(self.table.heads)
        titles = [column.title for column in self.table.columns]
        lines = []
        for cells in self.cells:
            rest, joined = iter(cells[first + 1 :]), []
            for column in self.table.columns:
                ours = next(rest)
                theirs = next(rest) if column.theirs else "–"
                joined.append(ours if theirs == "–" else f"{ours}\n({theirs})")
            lines.append([", ".join(cells[:first]), cells[first], *joined])
        return [fill(", ".join(self.table.heads), 24), "seeds", *titles], lines

    @property
    def title(self) -> str:
        """The title; a reduced protocol says so."""
        return f"{self.table.key}: {self.table.title}" + (" (quick protocol)" if self.quick else "")


@dataclass(frozen=True)
class Outcome:
    """The tables of a paper that have runs, and its claims under the full and the quick protocol."""

    paper: Paper
    sections: Sequence[Section]
    claims: Mapping[bool, Sequence[Decided]]
    commands: Sequence[str]


def outcome(
    paper: Paper, *, out: Path, data_dir: Path | None = None, table: str | None = None, draw: bool = True
) -> Outcome:
    """What is there of a paper, or of one of its tables; pictures are drawn on the way."""
    done = rows(runs_file(out, paper))
    sections, claims = [], {}
    for quick in (False, True):
        found = results(paper.entries(quick=quick), done, quick=quick)
        for one in paper.tables(quick):
            own = {line.entry.name: found[line.entry.name] for line in one.lines}
            if table in (None, one.key) and any(own.values()):
                pictures = _pictures(one, found, out / paper.name, data_dir, quick=quick) if draw else {}
                head, cells = _cells(one, found, quick=quick)
                sections.append(Section(one, quick, head, cells, pictures, own))
        if any(found.values()):
            decided = decide(paper.claims(quick), found)  # all of them: they are corrected together
            claims[quick] = [one for one in decided if table in (None, one.claim.table)]
    return Outcome(paper, sections, claims, sorted({row.command for row in done}))


def _cells(table: Table, found: Results, *, quick: bool) -> tuple[list[str], list[list[str]]]:
    """The head and the lines of a table; theirs stand behind ours, where the paper has them."""
    theirs = "theirs, in full" if quick else "theirs"
    head = [*table.heads, "seeds"]
    for column in table.columns:
        head += [f"{column.title}: ours", theirs] if column.theirs else [column.title]
    lines = []
    for line in table.lines:
        own = list(found[line.entry.name].values())
        base = list(found.get(line.baseline, {}).values())
        cells = [*line.words, str(len(own)) if own else "none yet"]
        for column in table.columns:
            cells.append(column.ours(own, base) if own else "–")
            if column.theirs:
                cells.append(line.theirs.get(column.key, "–"))
        lines.append(cells)
    return head, lines


def _pictures(
    table: Table, found: Results, folder: Path, data_dir: Path | None, *, quick: bool
) -> dict[str, Path]:
    """The pictures of a table that have curves, by title."""
    made = {}
    for one in table.pictures:
        ours = having(one.entries, found, one.measure, one.bins or one.x)
        if not ours:
            continue
        title = one.title + (" (quick protocol)" if quick else "")
        path = folder / f"{one.name}{'_quick' if quick else ''}.png"
        if one.bins:
            edges = next(iter(next(iter(ours.values())).values()))[one.bins]
            shares = {name: mean_list(rows, one.measure) for name, rows in ours.items()}
            drawn = shares_figure(shares, edges, title=title, along=one.words)
        else:
            curves = [curve(name, rows, measure=one.measure, x=one.x) for name, rows in ours.items()]
            along = "" if one.x == "labels" else one.x
            theirs = one.theirs(data_dir)
            drawn = figure(curves, title=title, theirs=theirs, measure=one.words, along=along)
        made[title] = save(drawn, path)
    return made


def write(told: Outcome, folder: Path) -> dict[str, Path]:
    """The paths of the Markdown and of the page, which are written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {"md": folder / "tables.md", "html": folder / "tables.html"}
    write_whole(paths["md"], markdown(told).encode())
    write_whole(paths["html"], page(told).encode())
    return paths


def markdown(told: Outcome) -> str:
    """All tables, claims and where they come from."""
    paper = told.paper
    lines = [f"# {paper.title}", "", paper.cited, ""]
    for section in told.sections:
        lines += [f"## {section.title}", "", section.table.source, "", section.table.protocol, ""]
        lines += [f"| {' | '.join(section.head)} |", f"|{'---|' * len(section.head)}"]
        lines += [f"| {' | '.join(cells)} |" for cells in section.cells]
        lines += ["", *(f"- {sentence}" for sentence in section.table.cited), ""]
        lines += [f"![{title}]({path.name})" for title, path in section.pictures.items()]
        lines += ["", _provenance(section), ""]
    for quick, decided in told.claims.items():
        lines += [f"## Claims{' (quick protocol)' if quick else ''}", ""]
        lines += [ABOUT_CLAIMS, ""]
        for one in decided:
            lines += [f"- **{one.verdict}**: {one.claim.sentence}", *(f"  - {why}" for why in one.reasons)]
        lines += [""]
    lines += ["Commands: " + ", ".join(f"`{command}`" for command in told.commands) + ".", ""]
    return "\n".join(lines)


ABOUT_CLAIMS = (
    "Differences are paired over the seeds: mean and 95 % t interval, p after Holm's correction over all "
    "comparisons of the paper. A claim holds if every comparison does, and does not hold if one is "
    "significantly the other way round."
)

_STYLE = (
    "body{font:16px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}"
    "td,th{padding:.25rem .6rem;border-bottom:1px solid #8886;text-align:left;white-space:nowrap}"
    "img{max-width:100%;background:#fff}.verdict{font-weight:600}small{color:#6b7480}"
    ":root{color-scheme:light dark}"
)


def page(told: Outcome) -> str:
    """The same as one HTML file that loads nothing."""
    parts: list[Html] = [tag("h1", told.paper.title), tag("p", told.paper.cited)]
    for section in told.sections:
        head = tag("tr", *(tag("th", word) for word in section.head))
        body = [tag("tr", *(tag("td", cell) for cell in cells)) for cells in section.cells]
        parts += [
            tag("h2", section.title),
            tag("p", section.table.source),
            tag("p", section.table.protocol),
            tag("table", head, *body),
            tag("ul", *(tag("li", sentence) for sentence in section.table.cited)),
            *(_picture(title, path) for title, path in section.pictures.items()),
            tag("p", tag("small", _provenance(section))),
        ]
    for quick, decided in told.claims.items():
        parts += [tag("h2", f"Claims{' (quick protocol)' if quick else ''}"), tag("p", ABOUT_CLAIMS)]
        parts += [
            tag(
                "p",
                tag("span", one.verdict, class_="verdict"),
                f": {one.claim.sentence}",
                tag("ul", *(tag("li", why) for why in one.reasons)),
            )
            for one in decided
        ]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", told.paper.title),
        tag("style", Html(_STYLE)),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', *parts), lang='en')}\n"


def _picture(title: str, path: Path) -> Html:
    return tag("img", alt=title, src=f"data:image/png;base64,{b64encode(path.read_bytes()).decode()}")


def _provenance(section: Section) -> str:
    seeds = sorted({seed for by_seed in section.found.values() for seed in by_seed})
    return (
        f"Seeds {', '.join(map(str, seeds))}; {spent(section.found)['all']:.2f} CPU hours; commits of the "
        f"runs: {', '.join(commits(section.found))}."
    )


def as_json(told: Outcome) -> dict[str, Any]:
    """Tables and claims as a script reads them."""
    return {
        "paper": told.paper.name,
        "tables": [
            {
                "table": section.table.key,
                "quick": section.quick,
                "head": section.head,
                "lines": section.cells,
                "pictures": [str(path) for path in section.pictures.values()],
            }
            for section in told.sections
        ],
        "claims": [
            {"quick": quick, "claim": one.claim.sentence, "verdict": one.verdict, "why": one.reasons}
            for quick, decided in told.claims.items()
            for one in decided
        ],
    }
