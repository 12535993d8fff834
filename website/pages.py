"""Where the files of the repository are on the site, and the links between them."""

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = "docs"
REPOSITORY = "repository"
_LINK = re.compile(r'(\]\(|src=")(?!https?://|mailto:|#)([^)#"\s]+)')
_BESIDE = (
    "README.md",
    "DESIGN.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "LICENSE",
    "LICENSES.md",
    "packaging/README.md",
)
_KINDS = {
    "results": (".md", ".png"),
    "examples": (".md", ".py", ".toml", ".ipynb"),
}


def beside() -> list[str]:
    """Files of the repository outside docs/ that are part of the site, by their path."""
    found = [name for name in _BESIDE if (ROOT / name).is_file()]
    for folder, kinds in _KINDS.items():
        files = (ROOT / folder).rglob("*")
        found += [str(file.relative_to(ROOT)) for file in files if file.suffix in kinds]
    return sorted(found)


def on_site(path: str) -> str:
    """Where a file of the repository is on the site."""
    return path.removeprefix(f"{DOCS}/") if path.startswith(f"{DOCS}/") else f"{REPOSITORY}/{path}"


def in_repository(uri: str) -> str:
    """The file of the repository that a page of the site was made of."""
    inside = uri.startswith(f"{REPOSITORY}/")
    return uri.removeprefix(f"{REPOSITORY}/") if inside else f"{DOCS}/{uri}"


def relinked(markdown: str, uri: str) -> str:
    """The page with its links between files of the repository as links between pages of the site."""
    folder = posixpath.dirname(in_repository(uri))

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[2]))
        if not (ROOT / target).is_file():
            return link[0]
        return link[1] + posixpath.relpath(on_site(target), posixpath.dirname(uri) or ".")

    return _LINK.sub(moved, markdown)
