"""What mkdocs calls while it builds the site: pages made from the code, and files from beside docs/."""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # mkdocs runs this file by its path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from website import pages, reference


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """The files of docs/, those from beside it, and the reference made from the code."""
    for path in pages.beside():
        files.append(File.generated(config, pages.on_site(path), abs_src_path=str(pages.ROOT / path)))
    for uri, markdown in reference.pages().items():
        files.append(File.generated(config, uri, content=markdown))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page with its links as they are on the site."""
    return pages.relinked(markdown, page.file.src_uri)


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """The page with every posterior's signature under the name that people write: `bbb`, not `Config`."""
    if page.file.src_uri != "reference/api/askwise.md":
        return html
    parts = re.split(r"(?=<h2 )", html)
    return "".join(_named(part) for part in parts)


def _named(part: str) -> str:
    name = re.search(r"aw\.(\w+)", part)
    return part if name is None else re.sub(r">Config<", f">{name[1]}<", part, count=1)
