"""The code blocks of the documentation, and how each kind is run.

A block is run, or the line above it says why not: `<!-- not run: needs a browser -->`. What a block
starts from is named above it, too: `<!-- given: photos -->` (given.py). The blocks of a page share one
folder and one set of Python names, in the order of the page.

python      executed
console     lines that begin with `askwise`; a person at `askwise label` is replaced by answers from a file
toml        written to the file that its first line names, `# plan.toml`
text        what was printed before it: each line, `...` for anything
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from given import GIVEN

from askwise.cli import app, call

ROOT = Path(__file__).parent.parent.parent
_MARK = re.compile(r"<!-- (not run|given): (.+?) -->$")


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: str
    line: int
    language: str
    text: str
    marks: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[str]:
    """Every page that may hold code."""
    found = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
    ]
    return sorted(str(file.relative_to(ROOT)) for file in found if "```" in file.read_text("utf-8"))


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page, in order, each with the marks above it."""
    yield from parsed(page, (ROOT / page).read_text("utf-8"))


def parsed(page: str, markdown: str) -> Iterator[Block]:
    """The blocks of a text."""
    marks: dict[str, str] = {}
    inside: list[str] | None = None
    language, indent, start = "", 0, 0
    for number, line in enumerate(markdown.splitlines(), start=1):
        bare = line.strip()
        if inside is not None and bare == "```":
            yield Block(page, start, language, "\n".join(inside) + "\n", marks)
            inside, marks = None, {}
        elif inside is not None:
            inside.append(line[indent:])
        elif bare.startswith("```"):
            inside, language, indent, start = [], bare[3:].split(" ")[0], line.index("`"), number + 1
        elif mark := _MARK.match(bare):
            marks = {**marks, mark[1]: mark[2]}
        elif bare:
            marks = {}
    if inside is not None:
        raise AssertionError(f"{page}:{start}: a block that does not end")


def run(block: Block, names: dict[str, Any], printed: str) -> None:
    """Do what the block says, or fail; `printed` is what the page has printed so far."""
    if "not run" in block.marks:
        return
    for given in filter(None, block.marks.get("given", "").split(", ")):
        names.update(GIVEN[given]())
    if block.language == "python":
        exec(compile(block.text, str(block), "exec"), names)
    elif block.language == "console":
        for line in block.text.splitlines():
            command(line, block)
    elif block.language == "toml":
        name = re.match(r"# (\S+\.toml)\n", block.text)
        assert name, f"{block}: the first line names the file, `# plan.toml`, or say <!-- not run: why -->"
        Path(name[1]).write_text(block.text)
    elif block.language == "text":
        missing = [line for line in block.text.splitlines() if not _printed(line, printed)]
        assert not missing, f"{block}: not printed: {missing}\nprinted:\n{printed}"
    else:
        raise AssertionError(f"{block}: nothing runs {block.language!r}; say <!-- not run: why -->")


def command(line: str, block: Block) -> None:
    """Call one line of the shell, if it is ours."""
    words = shlex.split(line, comments=True)
    if not words:
        return
    assert words[0] == "askwise", f"{block}: only askwise is run: {line!r}; say <!-- not run: why -->"
    if words[1] == "label":
        knows(words, block)
        words = ["askwise", "run", words[2], "--oracle", "answers.csv"]
    assert call(words[1:]) == 0, f"{block}: {line}"


def knows(words: list[str], where: object) -> None:
    """Fail where a command or an option does not exist."""
    import typer

    found: Any = typer.main.get_command(app)
    for number, word in enumerate(words[1:], start=1):
        if not hasattr(found, "commands"):
            options = {opt for one in found.params for opt in [*one.opts, *one.secondary_opts]} | {"--help"}
            wrong = [w for w in words[number:] if w.startswith("--") and w.split("=")[0] not in options]
            assert not wrong, f"{where}: {' '.join(words)}: no such option {wrong}"
            return
        if not re.fullmatch(r"[a-z][a-z-]*", word):
            return
        assert word in found.commands, f"{where}: there is no command {' '.join(words[: number + 1])!r}"
        found = found.commands[word]


def _printed(line: str, printed: str) -> bool:
    pattern = r".*".join(re.escape(part.strip()) for part in line.strip().split("..."))
    return not line.strip() or re.search(pattern, printed) is not None
