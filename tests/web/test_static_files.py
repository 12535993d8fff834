"""The page's files: complete, without a build, and without a way for text to become markup."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

STATIC = Path(str(files("askwise"))) / "web" / "static"
SOURCES = sorted(path for path in STATIC.rglob("*") if path.suffix in (".js", ".html", ".css", ".svg"))
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|DOMParser"
    r"|javascript:|createContextualFragment|setHTML"
)


def test_every_file_that_is_named_is_there() -> None:
    page = (STATIC / "index.html").read_text()
    named = re.findall(r'(?:src|href)="/static/([^"]+)"', page)
    assert "js/main.js" in named
    assert [name for name in named if not (STATIC / name).is_file()] == []
    assert {f"js/{path.name}" for path in STATIC.glob("js/*.js")} == {
        name for name in named if name[:3] == "js/"
    }
    for script in STATIC.glob("js/*.js"):
        imported = re.findall(r'\bfrom "\./(.+)";', script.read_text())
        assert [name for name in imported if not (script.parent / name).is_file()] == [], script.name


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_text_never_becomes_markup_and_nothing_comes_from_elsewhere(path: Path) -> None:
    text = path.read_text()
    assert MARKUP.findall(text) == []
    assert [url for url in re.findall(r"https?://[^\s\"'`)]+", text) if "www.w3.org" not in url] == []


def test_the_page_itself_has_no_inline_script_or_style() -> None:
    page = (STATIC / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page) == []
    assert re.findall(
        r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", '<p onclick="x" style="y">'
    )  # it can find some


def test_the_search_for_markup_finds_some() -> None:
    assert MARKUP.findall("box.innerHTML = text") == ["innerHTML"]
